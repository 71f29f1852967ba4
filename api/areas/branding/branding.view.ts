import type { Deps } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import type { Branding, BrandLogo, Kind, Scheme } from './branding.schemas.ts';
import type { TextRow } from './branding.store.ts';
import { builtIn } from './built-in.ts';
import { sha256 } from './logo-intake.ts';
import type { Brand, HeldLogo } from './memory.ts';

const other: Record<Scheme, Scheme> = { dark: 'light', light: 'dark' };

export interface Chosen {
  logo: HeldLogo;
  /** The scheme that the logo was set for, if it is not the requested one. */
  from?: Scheme;
}

/** The logo of the place, otherwise that of the other scheme; undefined means the built-in logo. */
export function chosen({ logos }: Brand, kind: Kind, scheme: Scheme): Chosen | undefined {
  const at = (where: Scheme): HeldLogo | undefined => logos.find((one) => one.kind === kind && one.scheme === where);
  const own = at(scheme);
  if (own) return { logo: own };
  const from = other[scheme];
  const fallen = at(from);
  return fallen && { logo: fallen, from };
}

/** Version of a logo as it is served now; it includes `background`, which the square variant is padded with. */
export function versionOf(hash: string, { texts }: Brand): string {
  return sha256(Buffer.from(`${hash} ${texts.background ?? ''}`)).slice(0, 16);
}

export const hashAt = (brand: Brand, kind: Kind, scheme: Scheme): string =>
  chosen(brand, kind, scheme)?.logo.made ?? builtIn[scheme].hash;

function altOf({ brand: { texts }, serverName }: Shown, kind: Kind): string {
  return (kind === 'main' ? texts.alt_main : texts.alt_loading) ?? serverName;
}

function toLogo(shown: Shown, kind: Kind, scheme: Scheme): BrandLogo {
  const { brand } = shown;
  const found = chosen(brand, kind, scheme);
  const { id, width, height, blurhash } = found?.logo ?? builtIn[scheme];
  const image = { id, kind: 'logo', width, height, blurhash, version: versionOf(hashAt(brand, kind, scheme), brand) };
  const plain = { image, alt: altOf(shown, kind), width, height };
  if (!found) return { ...plain, own: false, animated: false };
  const { animated, created_at: at } = found.logo;
  return { ...plain, own: true, animated, ...(found.from && { from: found.from }), ...(at && { updatedAt: iso(at) }) };
}

interface Shown {
  brand: Brand;
  serverName: string;
}

/** With `owned`, includes which resource declares which fields, for those who manage settings. */
export function toBranding(
  brand: Brand,
  { settings, config }: Pick<Deps, 'settings' | 'config'>,
  show: { owned: boolean } = { owned: false },
): Branding {
  const shown = { brand, serverName: settings.get('server.name') };
  const pair = (kind: Kind) => ({ dark: toLogo(shown, kind, 'dark'), light: toLogo(shown, kind, 'light') });
  const { fields } = brand.declared;
  const managed = show.owned && fields.length > 0 && config.managedBy;
  return {
    revision: brand.texts.revision,
    serverName: shown.serverName,
    ...toTexts(brand.texts),
    logos: { main: pair('main'), loading: pair('loading') },
    ...(managed && { managedBy: managed, managedFields: fields }),
  };
}

function toTexts(texts: TextRow) {
  const { accent, background, sign_in_message: signInMessage, footer } = texts;
  return {
    ...(accent && { accent }),
    ...(background && { background }),
    ...(signInMessage && { signInMessage }),
    ...(footer && { footer }),
    showName: texts.show_name ?? true,
    links: texts.links ?? [],
    loading: { motion: texts.motion ?? ('pulse' as const), minMs: texts.min_ms ?? 0 },
  };
}

/** From the revision and the server's name, which is a setting of its own. */
export const etagOf = ({ revision, serverName, managedBy }: Branding): string =>
  `"${revision}-${sha256(Buffer.from(serverName + (managedBy?.uid ?? ''))).slice(0, 8)}"`;
