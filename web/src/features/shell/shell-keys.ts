// Keys that work everywhere in the app: `?`, `/`, Ctrl K, and `g` followed by a letter.

interface Targets {
  h: () => void;
  l: () => void;
  search: () => void;
  sheet: () => void;
}

const SECOND_KEY_MS = 1500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function shellKeys(targets: Targets): (event: KeyboardEvent) => void {
  let after = 0;
  return (event) => {
    if (event.ctrlKey && event.key === 'k') {
      event.preventDefault();
      targets.search();
      return;
    }
    if (isTyping(event.target) || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]')) return;
    const second = performance.now() - after < SECOND_KEY_MS;
    after = event.key === 'g' ? performance.now() : 0;
    if (event.key === '?') targets.sheet();
    else if (event.key === '/') {
      event.preventDefault(); // the letter would be typed into the field
      targets.search();
    } else if (second && event.key === 'h') targets.h();
    else if (second && event.key === 'l') targets.l();
  };
}
