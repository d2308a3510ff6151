"""The entry: navigation, theme, sidebar. Run it with `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from components.sidebar import draw_jobs, draw_sidebar
from components.states import plain, show_fault
from components.theme import follow_theme
from components.workspace import workspace
from engine.errors import PlumblineError

HERE = Path(__file__).parent
PAGES = {  # name in the address → title, icon; the file is pages/NAME.py
    "corpus": ("Corpus", ":material/dataset:"),
    "explain": ("Explain", ":material/format_color_text:"),
    "boost": ("Boost", ":material/trending_up:"),
    "features": ("Features", ":material/category:"),
}


def main() -> None:
    """Draw the page that the address names."""
    st.set_page_config(page_title="Plumbline", page_icon=str(HERE / "assets" / "icon.svg"), layout="wide")
    st.html(HERE / "assets" / "style.css")
    st.logo(HERE / "assets" / "logo.svg", icon_image=HERE / "assets" / "icon.svg", size="large")
    pages = {
        name: st.Page(f"pages/{name}.py", title=title, icon=icon, default=name == "corpus")
        for name, (title, icon) in PAGES.items()
    }
    page = st.navigation(list(pages.values()))
    work = workspace()
    if work.destination in pages and pages[work.destination] != page:
        destination, work.destination = work.destination, ""
        st.switch_page(pages[destination], query_params=work.take_to(destination))
    work.destination = ""
    work.open(page.url_path or "corpus")
    draw_sidebar(work)
    if work.notice:
        st.toast(plain(work.notice), duration="long")
        work.notice = ""
    work.entered = True
    try:
        page.run()
    except PlumblineError as error:
        show_fault(str(error))
    finally:
        work.entered = False
    work.watch()
    work.publish()
    draw_jobs(work)
    follow_theme()


main()
