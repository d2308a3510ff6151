// Asks for another run where the page stands in another theme than it was drawn for (`data`), once for each turn.

export default function ({ data, parentElement, setTriggerValue }) {
  const probe = parentElement.querySelector(".mount");
  const stop = new AbortController();
  const look = () => {
    const now = getComputedStyle(probe).colorScheme.includes("dark") ? "dark" : "light";
    if (now === probe.told) return;
    probe.told = now;
    if (now !== data) setTriggerValue("turned", now);
  };
  probe.addEventListener("transitionend", look, { signal: stop.signal }); // its colour is the theme's
  look();
  return () => stop.abort();
}
