"""A window of a browser: how it is started, and what is measured in it."""

SIZE = {"width": 1280, "height": 800}

# No look-ups of the browser's maker: the tests need no network
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
"""FiftyOne greets new visitors with a dialog above everything else; what turns while it waits costs a core."""

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
"""Milliseconds from a key until the next crop and its image are there."""
