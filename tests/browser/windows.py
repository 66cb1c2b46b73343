"""Browser windows: how to start them, and what to measure in them."""

SIZE = {"width": 1280, "height": 800}

# disable requests to the browser's vendor: the tests need no network
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]

QUIET = """
localStorage.setItem('fiftyone-enterprise-tooltip-seen', 'true');
const still = document.createElement('style');
still.textContent = '*, *::before, *::after { animation: none !important; transition: none !important }';
document.addEventListener('DOMContentLoaded', () => document.head.append(still));
"""
"""Hide FiftyOne's welcome dialog; its spinner uses a full core."""

DECIDE = """async key => {
    const crop = () => document.querySelector('[data-cy="crop"] svg image');
    const id = () => document.querySelector('[data-cy="crop"]')?.dataset.id;
    const before = id(), start = performance.now();
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    while (!id() || id() === before) await new Promise(requestAnimationFrame);
    const image = new Image();
    image.src = crop().href.baseVal;
    await image.decode();
    await new Promise(requestAnimationFrame);
    return performance.now() - start;
}"""
"""Milliseconds from a key press until the next crop and its image are shown."""
