import { brandingOf, logoById } from '#areas/branding/public.ts';
import type { Deps } from '#kernel/endpoint.ts';
import type { Logos } from './render.ts';

/** The main logo for light and dark as PNG, which every mail program displays. */
export interface LogoBytes {
  light: Buffer;
  dark: Buffer;
}

const make = { format: 'png', width: 400, height: 96, fit: 'inside' } as const;
const painted = new Map<string, Buffer>();
const MOST = 8;

/** Undefined while the logo is unavailable: the mail is sent without it. */
export async function mailLogos(deps: Deps): Promise<LogoBytes | undefined> {
  try {
    const { main } = (await brandingOf(deps)).logos;
    return { light: await paint(deps, main.light.image), dark: await paint(deps, main.dark.image) };
  } catch (error) {
    deps.log.warn({ err: (error as Error).message }, 'mail: no logo');
    return undefined;
  }
}

async function paint(deps: Deps, { id, version }: { id: string; version?: string | undefined }): Promise<Buffer> {
  const key = `${id} ${version ?? ''}`;
  const known = painted.get(key);
  if (known) return known;
  const webp = await logoById(deps, id);
  if (!webp) throw new Error('the logo is unavailable');
  const bytes = await deps.pictures.remake(webp, make);
  if (painted.size >= MOST) painted.clear();
  painted.set(key, bytes);
  return bytes;
}

export const CIDS: Logos = { light: 'cid:logo-light@foyer', dark: 'cid:logo-dark@foyer' };

const dataUrl = (png: Buffer): string => `data:image/png;base64,${png.toString('base64')}`;
export const asData = ({ light, dark }: LogoBytes): Logos => ({ light: dataUrl(light), dark: dataUrl(dark) });
