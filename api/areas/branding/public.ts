import type { Deps } from '#kernel/endpoint.ts';
import { type Branding, kinds, schemes } from './branding.schemas.ts';
import { chosen, toBranding } from './branding.view.ts';
import { builtIn, paintBuiltIn } from './built-in.ts';
import { brandOf } from './memory.ts';

export { LOGO_BYTES } from './logo-intake.ts';
export { forgetReplacedLogos } from './sweep.ts';

/** The branding that the sign-in page, mails and the docs show. */
export async function brandingOf(deps: Deps): Promise<Branding> {
  return toBranding(await brandOf(deps).current(), deps);
}

/**
 * Bytes (WebP, longest side 1,024) of a logo by the id of its ImageRef; undefined if the id is unknown or the logo is
 * unavailable.
 */
export async function logoById(deps: Deps, id: string): Promise<Buffer | undefined> {
  const brand = await brandOf(deps).current();
  const all = kinds.flatMap((kind) => schemes.map((scheme) => chosen(brand, kind, scheme)?.logo));
  const own = all.find((logo) => logo?.id === id);
  if (own) return own.bytes;
  const scheme = schemes.find((one) => builtIn[one].id === id);
  return scheme && paintBuiltIn(deps.pictures, scheme);
}
