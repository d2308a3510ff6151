#!/bin/sh
# Find Chromium or Chrome for the browser tests; as root on Debian install it; otherwise say what to install.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing chromium for the browser tests"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null && exit 0
fi
echo "The browser tests need Chromium or Chrome on the PATH: install your system's 'chromium' (or Google Chrome) and run make test again." >&2
exit 1
