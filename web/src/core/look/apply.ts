// Puts a look on the page, and keeps it in this browser: the shell's inline script puts it on before the first paint.
import { CONTRAST_SHEET, type Dress, type Look, type Scheme } from './look.ts';

const KEPT = 'foyer.look';
const OWN = 'own-theme';
const DEFAULT = 'default-theme';
/** Tokens whose hue and chroma are those of the server's accent; their lightness, and so their contrast, stays. */
const ACCENTS = [
  'accent',
  'accent-hover',
  'accent-pressed',
  'accent-soft',
  'link',
  'selected',
  'selection',
  'badge',
].map((name) => `--fy-color-${name}`);

interface Kept extends Partial<Look> {
  accents?: Partial<Record<Scheme, Record<string, string>>>;
  /** Of the server's default theme. */
  version?: string | undefined;
}

const root = (): HTMLElement => document.documentElement;

export function keptLook(): Kept {
  try {
    return (JSON.parse(localStorage.getItem(KEPT) ?? '{}') ?? {}) as Kept;
  } catch {
    return {};
  }
}

const keep = (kept: Kept): void => localStorage.setItem(KEPT, JSON.stringify({ ...keptLook(), ...kept }));

const wanted = (mode: Look['mode'] = 'system'): Scheme =>
  mode === 'system' ? (matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark') : mode;

const MORE = '(prefers-contrast: more)';

/** Of a browser without a look of a profile the server's default theme, or the one for more contrast. */
function dressOf(look: Kept, scheme: Scheme): Dress {
  const contrasts = matchMedia(MORE).matches;
  if (!look.mode) return contrasts ? { scheme, sheet: CONTRAST_SHEET } : { scheme };
  return (contrasts ? look.contrast?.[scheme] : undefined) ?? look[scheme] ?? { scheme };
}

function linkTo(id: string, href: string): Promise<void> {
  const old = document.getElementById(id);
  const link = document.createElement('link');
  Object.assign(link, { id, rel: 'stylesheet', href });
  const ready = new Promise<void>((done) => {
    link.onload = () => done(old?.remove());
    link.onerror = () => done(link.remove());
  });
  (old ?? document.getElementById(DEFAULT))?.after(link);
  return ready;
}

/** Loads the sheet before the one in use goes, so that no page is without colours. */
async function useSheet(sheet: string | undefined): Promise<void> {
  const old = document.getElementById(OWN);
  if (!sheet) old?.remove();
  else if (old?.getAttribute('href') !== sheet) await linkTo(OWN, sheet);
}

/** Loads the server's default theme again, after it changed. */
const reloadDefault = (): Promise<void> =>
  linkTo(DEFAULT, document.getElementById(DEFAULT)?.getAttribute('href') ?? '');

/** Puts the kept look on, as after a change of the device's scheme. */
async function useKept(): Promise<void> {
  const look = keptLook();
  const scheme = wanted(look.mode);
  const dress = dressOf(look, scheme);
  await useSheet(dress.sheet);
  root().dataset.scheme = dress.scheme;
  root().toggleAttribute('data-still', look.reducedMotion === true);
  root().style.fontSize = look.scale && look.scale !== 1 ? `${look.scale * 100}%` : '';
}

let accent: string | undefined;

/** Computes the accents by the browser's relative colours, under the theme that is in use. */
function useAccent(): void {
  for (const name of ACCENTS) root().style.removeProperty(name);
  const scheme = root().dataset.scheme as Scheme;
  const made: Record<string, string> = {};
  if (accent && CSS.supports('color', 'oklch(from red l c h)')) {
    const probe = document.body.appendChild(document.createElement('i'));
    const computed = (color: string): string => {
      probe.style.color = color;
      return getComputedStyle(probe).color;
    };
    const [, chroma, hue] = /^oklch\(\S+ (\S+) (\S+?)\)$/.exec(computed(`oklch(from ${accent} l c h)`)) ?? [];
    for (const name of chroma && hue ? ACCENTS : [])
      made[name] = computed(`oklch(from var(${name}) l ${chroma} ${hue})`);
    probe.remove();
  }
  for (const [name, value] of Object.entries(made)) root().style.setProperty(name, value);
  keep({ accents: { ...keptLook().accents, [scheme]: made } });
}

async function putOn(): Promise<void> {
  await useKept();
  useAccent();
}

/** Of the default theme whose sheet the page has; at first the version of the last visit. */
let worn = keptLook().version;

/**
 * Puts a look on the page. `version` is that of the default theme, whose sheet is loaded again when it changed: also
 * between the load of the page and the first answer, of which the page gets no event.
 */
export async function useLook(look: Look, version: string | undefined): Promise<void> {
  const changed = worn !== version;
  worn = version;
  keep({ ...look, version });
  if (changed) await reloadDefault();
  await putOn();
}

/** The accent of Branding, or none. */
export function useBrand(color: string | undefined): void {
  accent = color;
  useAccent();
}

/** Follows the device's scheme and contrast; the result ends it. */
export function followDevice(): () => void {
  const device = ['(prefers-color-scheme: light)', MORE].map((media) => matchMedia(media));
  const change = (): void => void putOn();
  for (const one of device) one.addEventListener('change', change);
  return () => {
    for (const one of device) one.removeEventListener('change', change);
  };
}
