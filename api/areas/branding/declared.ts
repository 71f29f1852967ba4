// Branding that the MediaServer declares: a folder with a file for each key of its ConfigMap.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Log } from '#platform/log.ts';
import type { Pictures } from '#platform/pictures.ts';
import { BrandingTexts, type Kind, kinds, type Scheme, schemes } from './branding.schemas.ts';
import { columnsOf, type LogoRow, type TextRow } from './branding.store.ts';
import { factsOf, intakeOf, LOGO_BYTES, sha256 } from './logo-intake.ts';

export interface DeclaredLogo extends Omit<LogoRow, 'created_at'> {
  bytes: Buffer;
}

export interface Declared {
  /** Fingerprint of all files; empty when nothing is declared. */
  fingerprint: string;
  /** Field names such as `showName` and `logos.main.dark`. */
  fields: string[];
  columns: Partial<TextRow>;
  logos: DeclaredLogo[];
}

export const nothingDeclared: Declared = { fingerprint: '', fields: [], columns: {}, logos: [] };

const LOGO_FILE = /^logo-(main|loading)-(dark|light)$/;

async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort(); // a cluster mounts `..data`
  const files = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const));
  return new Map(files);
}

interface Reading {
  log: Log;
  pictures: Pictures;
}

/**
 * Reads the folder again and returns `before` when its content is unchanged. Invalid values are left out and logged.
 */
export async function readDeclared(folder: string, before: Declared, { log, pictures }: Reading): Promise<Declared> {
  const files = await filesOf(folder);
  const fingerprint = sha256(Buffer.from([...files].map(([name, bytes]) => `${name} ${sha256(bytes)}`).join('\n')));
  if (fingerprint === before.fingerprint) return before;
  const texts = textsOf(files, log);
  const logos = await logosOf(files, { log, pictures });
  const places = logos.map(({ kind, scheme }) => `logos.${kind}.${scheme}`);
  return { fingerprint, fields: [...Object.keys(texts), ...places], columns: columnsOf(texts), logos };
}

function textsOf(files: ReadonlyMap<string, Buffer>, log: Log): BrandingTexts {
  const texts: Record<string, unknown> = {};
  for (const [name, bytes] of files) {
    if (LOGO_FILE.test(name)) continue;
    const text = bytes.toString('utf8').replace(/\n$/, '');
    const value: unknown = name === 'showName' || name === 'links' ? parsed(text) : text;
    const read = BrandingTexts.safeParse({ [name]: value });
    if (read.success) Object.assign(texts, read.data);
    else log.warn({ key: name, issues: read.error.issues.map(({ message }) => message) }, 'branding: not declared');
  }
  return texts;
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

async function logosOf(files: ReadonlyMap<string, Buffer>, reading: Reading): Promise<DeclaredLogo[]> {
  const logos: DeclaredLogo[] = [];
  for (const kind of kinds) {
    for (const scheme of schemes) {
      const bytes = files.get(`logo-${kind}-${scheme}`);
      const logo = bytes && (await logoOf({ kind, scheme }, bytes, reading));
      if (logo) logos.push(logo);
    }
  }
  return logos;
}

async function logoOf(
  place: { kind: Kind; scheme: Scheme },
  given: Buffer,
  { log, pictures }: Reading,
): Promise<DeclaredLogo | undefined> {
  try {
    if (given.length > LOGO_BYTES) throw new Error('too large');
    const { rules, make } = intakeOf(place.kind);
    const picture = await pictures.take({ bytes: given, type: '' }, rules, make);
    const facts = factsOf(picture, given);
    return { ...place, ...facts, id: idOf(place, facts.made), bytes: picture.bytes };
  } catch (error) {
    log.warn({ ...place, err: (error as Error).message }, 'branding: logo not declared');
    return undefined;
  }
}

/** A UUID of place and content, the same on every replica. */
function idOf({ kind, scheme }: { kind: Kind; scheme: Scheme }, made: string): string {
  const hex = sha256(Buffer.from(`${kind} ${scheme} ${made}`));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
