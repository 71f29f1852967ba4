// The screens on which Home and the last libraries began, kept in this browser: the shell builds one before any script of the app has
// run (app.html), so that the pictures are there at once. It is elements and texts, never markup.

import { newId } from '../api/ids.ts';
import { sharedStorage } from './shared.ts';

const KEPT = 'foyer.screen:';
/** Another value for each person that enters: a copy of the one before is never shown, and no tab keeps one any more. */
const VIEWER = 'foyer.viewer';
/** Home and three libraries. */
const MOST = 4;
/** Attributes that show; an element of the copy is never a target. */
const SHOWS =
  /^(class|src|srcset|sizes|lang|dir|hidden|aria-current|aria-hidden|viewBox|d|width|height|cx|cy|r|x|y|points|fill|stroke|stroke-width|stroke-linecap|stroke-linejoin)$/;

/** Tag, attributes, style and children; a text is itself. */
type Copy = string | [tag: string, attributes: Record<string, string>, style: string, ...children: Copy[]];

function isOnScreen(element: Element): boolean {
  const { top, bottom, left, right, width, height } = element.getBoundingClientRect();
  return width * height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
}

/** Without blurred pictures, which are large. */
const styleOf = (element: Element): string =>
  (element as HTMLElement).style.cssText.replace(/[\w-]+: url\([^)]*\)[^;]*;?/g, '').trim();

/** An element as it is on the screen; one outside of it is left out. */
function copyOf(node: Node): Copy[] {
  if (node instanceof Text) return node.data.trim() ? [node.data] : [];
  if (!(node instanceof Element)) return [];
  if (node.namespaceURI?.endsWith('xhtml') && !isOnScreen(node)) return [];
  const shown = [...node.attributes].filter(({ name }) => SHOWS.test(name)).map(({ name, value }) => [name, value]);
  return [[node.localName, Object.fromEntries(shown), styleOf(node), ...[...node.childNodes].flatMap(copyOf)]];
}

/** The style sheets of this build and of the pages so far, by which the classes of a copy are known. */
const sheets = (): string[] =>
  [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')]
    .map(({ href }) => new URL(href).pathname)
    .filter((path) => path.startsWith('/_app/'));

/** Whose page this is. */
let viewer = sharedStorage.getItem(VIEWER) ?? renewed();

function renewed(): string {
  const made = newId();
  sharedStorage.setItem(VIEWER, made);
  return made;
}

const keptScreens = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith(KEPT));

const keptAt = (key: string): number => (JSON.parse(localStorage.getItem(key) ?? '{}') as { at: number }).at;

/** Keeps the screen as it is now for the address of the page. */
export function keepFirstScreen(): void {
  const app = document.getElementById('app');
  if (!app || scrollY > 0 || sharedStorage.getItem(VIEWER) !== viewer) return;
  const { lang, dir } = document.documentElement;
  const nodes = [...app.childNodes].flatMap(copyOf);
  const own = KEPT + location.pathname + location.search;
  const others = keptScreens().filter((key) => key !== own);
  const old = others.sort((one, other) => keptAt(other) - keptAt(one)).slice(MOST - 1);
  for (const key of old) localStorage.removeItem(key);
  const screen = { viewer, sheets: sheets(), width: innerWidth, at: Date.now(), lang, dir, nodes };
  localStorage.setItem(own, JSON.stringify(screen));
}

/** At the end of a sign-in and before another profile: the next person must not see them. */
export function forgetFirstScreens(): void {
  renewed();
  for (const key of keptScreens()) localStorage.removeItem(key);
}

/** Somebody has entered, whose screen may be kept. */
export function mayKeepScreens(): void {
  viewer = sharedStorage.getItem(VIEWER) ?? renewed();
}

/** Removes the frame and the copy once the app has drawn its own. */
export const removeFrame = (): void => document.querySelector('.boot')?.remove();
