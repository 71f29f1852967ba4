// Uploads of icons: each file is judged for itself, and an archive file by file.
import { createHash } from 'node:crypto';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalidAll } from '#kernel/errors.ts';
import type { Upload } from '#kernel/uploads.ts';
import { type IconFault, type MadeIcon, ParserUnavailable, type Pictures } from '#platform/pictures.ts';
import { slotNamed } from '../built-in/slots.ts';
import { announce, refuseManaged } from '../guards.ts';
import { ICON_NAME, type IconMeta, type IconUploadResult, type NewIcons } from '../icons.schemas.ts';
import {
  changeableSet,
  freeSlots,
  type IconContent,
  type IconRow,
  insertIcons,
  listIconRows,
  lockIcons,
  MOST_ICONS,
  removeIcons,
  type SetRow,
  touchSet,
  writeIcon,
} from '../icons.store.ts';
import { readIcons } from '../icons.view.ts';
import { keepIcon } from './kept.ts';

interface Given {
  /** Name of the file. */
  file: string;
  /** Undefined for a file of an archive that is too large. */
  bytes: Buffer | undefined;
}

type Refused = IconUploadResult['refused'][number];

interface Drawn {
  file: string;
  content: IconContent;
}

/** Runs `work` and answers 503 while no picture can be opened. */
export async function opening<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ParserUnavailable)) throw error;
    throw new ApiError('SERVICE_STARTING', 'Pictures cannot be opened just now', { waitingFor: 'parser' });
  }
}

const isZip = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004';

/** The last part of a path without its extension, as the name of an icon; empty when no letter or digit is left. */
export function cleanName(file: string): string {
  const last = file.split(/[/\\]/).at(-1) ?? '';
  const dot = last.lastIndexOf('.');
  return (dot > 0 ? last.slice(0, dot) : last)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 60)
    .replace(/-$/, '');
}

const labelOf = (name: string): string => {
  const words = name.replaceAll('-', ' ').trim() || name;
  return words.slice(0, 1).toUpperCase() + words.slice(1);
};

/** The files of the upload; those of an archive in its place. */
async function filesOf(
  pictures: Pictures,
  uploads: readonly Upload[],
): Promise<{ files: Given[]; refused: Refused[] }> {
  const files: Given[] = [];
  const refused: Refused[] = [];
  for (const [at, { name, bytes }] of uploads.entries()) {
    const file = name || `file-${at + 1}`;
    if (!isZip(bytes)) files.push({ file, bytes });
    else {
      const unpacked = await opening(() => pictures.unpackIcons(bytes));
      if (unpacked.ok) files.push(...unpacked.files.map((one) => ({ file: one.name, bytes: one.bytes })));
      else refused.push({ name: shown(file), reason: unpacked.fault });
    }
  }
  return { files, refused };
}

/** A file name as it is reported. */
const shown = (file: string): string => file.replace(/\p{Cc}/gu, '').slice(0, 200);

export function contentOf(
  icon: MadeIcon,
  hash: string,
): Pick<IconContent, 'source_kind' | 'width' | 'height' | 'hash' | 'parts' | 'drawing' | 'tintable'> {
  const { sourceKind, width, height, parts, tintable } = icon;
  return { source_kind: sourceKind, width, height, hash, parts: [...parts], drawing: null, tintable };
}

async function drawOne(call: Call, { file, bytes }: Given, meta: IconMeta | undefined): Promise<Drawn | IconFaulted> {
  const name = meta?.name ?? cleanName(file);
  if (!ICON_NAME.test(name)) return { fault: 'name-invalid' };
  if (!bytes) return { fault: 'too-large' };
  const made = await opening(() => call.deps.pictures.icon(bytes));
  if (!made.ok) return made;
  const picture = contentOf(made.icon, await keepIcon(call.deps, made.icon));
  return { file, content: describedBy(name, picture, meta) };
}

function describedBy(name: string, picture: ReturnType<typeof contentOf>, meta: Partial<IconMeta> = {}): IconContent {
  const { label = labelOf(name), keywords = [], tintable = picture.tintable, slot = slotNamed(name) ?? null } = meta;
  return { ...picture, name, label, slot, keywords, tintable };
}

interface IconFaulted {
  fault: IconFault;
  detail?: string;
}

const reportOf = (file: string, { fault, detail }: IconFaulted): Refused => ({
  name: shown(file),
  reason: fault,
  ...(detail && { detail }),
});

/** Pictures that are opened at the same time: the sandbox has two processes. */
const AT_ONCE = 2;

async function drawAll(
  call: Call,
  files: readonly Given[],
  metas: readonly IconMeta[],
): Promise<{ drawn: Drawn[]; refused: Refused[] }> {
  const byFile = new Map(metas.map((meta) => [meta.file, meta]));
  const results: (Drawn | (IconFaulted & { file: string }))[] = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    await call.db.raw('select 1'); // an idle transaction is ended after a minute
    results.push(
      ...(await Promise.all(
        files.slice(at, at + AT_ONCE).map(async (given) => ({
          ...(await drawOne(call, given, byFile.get(given.file))),
          file: given.file,
        })),
      )),
    );
  }
  const names = new Set<string>();
  const drawn: Drawn[] = [];
  const refused: Refused[] = [];
  for (const one of results) {
    const twice: IconFaulted | undefined =
      'content' in one && names.has(one.content.name) ? { fault: 'duplicate-name' } : undefined;
    const refusal = 'fault' in one ? one : twice;
    if (refusal) refused.push(reportOf(one.file, refusal));
    else if ('content' in one) {
      names.add(one.content.name);
      drawn.push(one);
    }
  }
  return { drawn, refused };
}

/** Nothing is locked while pictures are opened. Throws 400 when all files are refused, 404, 409 `built-in`, `too-many`, `managed-by-resource`, 413, 503. */
export async function addIcons(call: Call, setId: string, body: NewIcons): Promise<IconUploadResult> {
  refuseManaged(call.who, await changeableSet(call.db, setId), ['icons']);
  const opened = await filesOf(call.deps.pictures, body.files);
  const made = await drawAll(call, opened.files, body.meta);
  const upload = { ...made, refused: [...opened.refused, ...made.refused], body };
  return storeIcons(call, setId, upload);
}

interface Opened {
  drawn: readonly Drawn[];
  refused: readonly Refused[];
  body: NewIcons;
}

async function storeIcons(call: Call, setId: string, { drawn, refused, body }: Opened): Promise<IconUploadResult> {
  const { db, who } = call;
  await lockIcons(db);
  const set = await changeableSet(db, setId);
  refuseManaged(who, set, ['icons']);
  const there = new Map((await listIconRows(db, setId)).map((row) => [row.name, row]));
  const taken = body.onDuplicate === 'refuse' ? drawn.filter(({ content }) => there.has(content.name)) : [];
  const all = [...refused, ...taken.map(({ file }) => ({ name: shown(file), reason: 'duplicate-name' as const }))];
  const accepted = drawn.filter((one) => !taken.includes(one));
  if (accepted.length === 0 && all.length > 0) throw allRefused(all);
  const archive = declaredArchive(call, set, body);
  const gone = archive
    ? [...there.values()].filter(({ name }) => !drawn.some(({ content }) => content.name === name))
    : [];
  await removeIcons(
    db,
    gone.map(({ id }) => id),
  );
  const fresh = accepted.filter(({ content }) => !there.has(content.name)).map(({ content }) => content);
  if (there.size - gone.length + fresh.length > MOST_ICONS)
    throw conflict('too-many', `A set has at most ${MOST_ICONS} icons`);
  const stored = await store(call, setId, { accepted, fresh, there });
  await touchSet(db, setId, archive && all.length === 0 ? archive : null);
  await audit(call, 'icons.added', { setId, added: stored.added.length, replaced: stored.replaced.length });
  await announce(call, setId);
  return { ...stored, refused: all };
}

/** The hash of an archive that the operator sends for a declared set: the set becomes exactly what it holds. */
function declaredArchive({ who }: Call, { managed_by: managedBy }: SetRow, { files }: NewIcons): string | undefined {
  const [only] = files;
  if (!who.operator || !managedBy || files.length !== 1 || !only || !isZip(only.bytes)) return undefined;
  return createHash('sha256').update(only.bytes).digest('hex');
}

function allRefused(refused: readonly Refused[]): Error {
  return invalidAll(
    refused.map(({ name, reason, detail }) => ({
      path: ['body', 'files', name],
      code: reason.replaceAll('-', '_'),
      message: detail ?? reason,
    })),
  );
}

interface Stored {
  accepted: readonly Drawn[];
  fresh: readonly IconContent[];
  there: ReadonlyMap<string, IconRow>;
}

/** A slot that an accepted icon fills is taken from the icon that filled it before. */
async function store(
  call: Call,
  setId: string,
  { accepted, fresh, there }: Stored,
): Promise<Pick<IconUploadResult, 'added' | 'replaced'>> {
  const { db } = call;
  const bySlot = new Set<string>();
  const single = (content: IconContent): IconContent => {
    const isFree = content.slot === null || !bySlot.has(content.slot);
    if (content.slot !== null) bySlot.add(content.slot);
    return isFree ? content : { ...content, slot: null };
  };
  const contents = new Map(accepted.map(({ content }) => [content.name, single(content)]));
  const slots = [...contents.values()].flatMap(({ slot }) => slot ?? []);
  if (slots.length > 0) await freeSlots(db, { setId, slots });
  const replaced: string[] = [];
  for (const content of contents.values()) {
    const row = there.get(content.name);
    if (!row) continue;
    const isRedrawn = row.hash !== content.hash;
    await writeIcon(db, row.id, { content: { ...content, slot: content.slot ?? row.slot }, isRedrawn });
    replaced.push(row.id);
  }
  const added = await insertIcons(
    db,
    setId,
    fresh.flatMap(({ name }) => contents.get(name) ?? []),
  );
  return { added: await readIcons(call, added), replaced: await readIcons(call, replaced) };
}
