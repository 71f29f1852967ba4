import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { BrandingChange, Kind, Scheme } from './branding.schemas.ts';

export interface TextRow {
  revision: number;
  show_name: boolean | null;
  accent: string | null;
  background: string | null;
  sign_in_message: string | null;
  footer: string | null;
  links: { label: string; url: string }[] | null;
  motion: 'none' | 'pulse' | 'own' | null;
  min_ms: number | null;
  alt_main: string | null;
  alt_loading: string | null;
  /** Fingerprint of the declared content when it was last counted as a change. */
  declared: string;
}

export interface LogoRow {
  id: string;
  kind: Kind;
  scheme: Scheme;
  /** SHA-256 of the uploaded bytes; `made` is that of the served ones. */
  original: string;
  made: string;
  width: number;
  height: number;
  blurhash: string;
  animated: boolean;
  created_at: Date;
}

export interface Stored {
  texts: TextRow;
  logos: LogoRow[];
}

export async function readBranding(db: Db): Promise<Stored> {
  const [texts, logos] = await Promise.all([
    db('branding').first<TextRow>('*'),
    db('branding_logos').whereNull('replaced_at').select<LogoRow[]>('*'),
  ]);
  return { texts, logos };
}

/** Locks the row of texts until the transaction ends, so that changes run one after another. */
export async function lockBranding(db: Db): Promise<TextRow> {
  return db('branding').forUpdate().first('*');
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
