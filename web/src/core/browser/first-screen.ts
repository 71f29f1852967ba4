// The screen on which Home last began, kept in this browser: the shell builds it before any script of the app has run (app.html), so
// that the pictures are there at once. It is elements and texts, never markup.

const KEPT = 'foyer.screen';
/** Attributes that show; an element of the copy is never a target. */
const SHOWS =
  /^(class|src|srcset|sizes|lang|dir|hidden|aria-current|aria-hidden|viewBox|d|width|height|cx|cy|r|x|y|points)$/;

/** Tag, attributes, style and children; a text is itself. */
type Copy = string | [tag: string, attributes: Record<string, string>, style: string, ...children: Copy[]];

function isOnScreen(element: Element): boolean {
  const { top, bottom, left, right, width, height } = element.getBoundingClientRect();
  return width * height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
}

function styleOf(element: Element): string {
  const { style } = element as HTMLElement;
  const shown = [...style].filter((name) => !name.startsWith('background-image'));
  return shown.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';');
}

/** An element as it is on the screen; one outside of it is left out. */
function copyOf(node: Node): Copy[] {
  if (node instanceof Text) return node.data.trim() ? [node.data] : [];
  if (!(node instanceof Element)) return [];
  if (node.namespaceURI?.endsWith('xhtml') && !isOnScreen(node)) return [];
  const shown = [...node.attributes].filter(({ name }) => SHOWS.test(name)).map(({ name, value }) => [name, value]);
  return [[node.localName, Object.fromEntries(shown), styleOf(node), ...[...node.childNodes].flatMap(copyOf)]];
}

/** The style sheet of this build, by which the classes of a copy are known. */
const sheet = (): string | null | undefined =>
  document.querySelector('link[rel=stylesheet][href^="/_app/"]')?.getAttribute('href');

/** The person has left: a page that is still drawn is not kept. */
let hasLeft = false;

/** Keeps the screen as it is now. */
export function keepFirstScreen(): void {
  const app = document.getElementById('app');
  if (!app || scrollY > 0 || hasLeft) return;
  const { lang, dir } = document.documentElement;
  const nodes = [...app.childNodes].flatMap(copyOf);
  localStorage.setItem(KEPT, JSON.stringify({ sheet: sheet(), width: innerWidth, at: Date.now(), lang, dir, nodes }));
}

/** At the end of a sign-in and before another profile: the next person must not see it. */
export function forgetFirstScreen(): void {
  hasLeft = true;
  localStorage.removeItem(KEPT);
}

/** Somebody has entered, whose screen may be kept. */
export function mayKeepScreens(): void {
  hasLeft = false;
}

/** Removes the frame and the copy once the app has drawn its own. */
export const removeFrame = (): void => document.querySelector('.boot')?.remove();
