import { type Db, existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { BrandingChange, Kind, Scheme } from './branding.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'branding.links': { label: string; url: string }[];
    'branding.motion': 'none' | 'pulse' | 'own';
    'branding_logos.kind': Kind;
    'branding_logos.scheme': Scheme;
  }
}

/** `declared` is the fingerprint of the declared content when it was last counted as a change. */
export type TextRow = Omit<Row<'branding'>, 'one' | 'updated_at'>;

/** `original` is the SHA-256 of the uploaded bytes, `made` that of the served ones. */
export type LogoRow = Pick<
  Row<'branding_logos'>,
  'id' | 'kind' | 'scheme' | 'original' | 'made' | 'width' | 'height' | 'blurhash' | 'animated' | 'created_at'
>;

export interface Stored {
  texts: TextRow;
  logos: LogoRow[];
}

export async function readBranding(db: Db): Promise<Stored> {
  const [texts, logos] = await Promise.all([
    db('branding').first(),
    db('branding_logos').whereNull('replaced_at').select('*'),
  ]);
  return { texts: existing(texts), logos };
}

/** Locks the row of texts until the transaction ends, so that changes run one after another. */
export async function lockBranding(db: Db): Promise<TextRow> {
  return existing(await db('branding').forUpdate().first());
}

export async function writeTexts(db: Db, columns: Partial<TextRow>): Promise<void> {
  const { links, ...same } = columns;
  const changed = { ...same, ...(links !== undefined && { links: links && JSON.stringify(links) }) };
  await db('branding').update({ ...changed, revision: db.raw('revision + 1'), updated_at: db.fn.now() });
}

const lower = (colour: string | null | undefined) => (colour ? colour.toLowerCase() : colour);
const orNull = (text: string | null | undefined) => (text === '' ? null : text);

/** Members that are absent keep the stored value. */
export function columnsOf(change: BrandingChange): Partial<TextRow> {
  const { showName, accent, background, signInMessage, footer, links, loading, alt } = change;
  const columns = {
    show_name: showName,
    accent: lower(accent),
    background: lower(background),
    sign_in_message: orNull(signInMessage),
    footer: orNull(footer),
    links,
    motion: loading?.motion,
    min_ms: loading?.minMs,
    alt_main: alt?.main,
    alt_loading: alt?.loading,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** Marks the current logo as replaced and inserts the new one, if given. Returns whether there was one. */
export async function replaceLogo(
  db: Db,
  place: { kind: Kind; scheme: Scheme },
  logo?: Omit<LogoRow, 'id' | 'created_at'> & { mime: string; size_bytes: number; created_by: string | null },
): Promise<boolean> {
  const gone = await db('branding_logos').where(place).whereNull('replaced_at').update({ replaced_at: db.fn.now() });
  if (logo) await db('branding_logos').insert({ id: newId(), ...logo });
  return gone > 0;
}

/** Counts a change of the declared content once, no matter how many replicas notice it. */
export async function noteDeclared(db: Db, declared: string): Promise<boolean> {
  const changed = await db('branding')
    .where('declared', '<>', declared)
    .update({ declared, revision: db.raw('revision + 1'), updated_at: db.fn.now() });
  return changed > 0;
}
