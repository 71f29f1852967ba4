import type { ByteSource } from '../byte-source.ts';
import { unsure } from '../fault.ts';
import { child, children, load, type Placed, placedAt, text, uint } from './ebml.ts';
import { ID } from './ids.ts';

const MAX_WALK = 64;
const SECTION_LIMIT = 48 * 1024 * 1024;
const SECTIONS = new Set<number>([ID.info, ID.tracks, ID.cues, ID.chapters, ID.tags, ID.attachments]);

/** Positions of the parts of a Matroska file. */
export interface Layout {
  docType: string;
  /** Start of the Segment's content: the zero of Cues and SeekHead. */
  origin: number;
  sections: Map<number, Placed>;
  firstCluster: Placed | undefined;
  /** The Segment is longer than the file. */
  truncated: boolean;
}

/** Walks to the first Cluster and follows the SeekHead to later parts. */
export async function layoutOf(source: ByteSource): Promise<Layout> {
  const head = await placedAt(source, 0);
  if (head?.id !== ID.ebml) unsure('no EBML head');
  const docType = text(child(await load(source, head, 4096), ID.docType) ?? Buffer.from('matroska'));
  const segment = await placedAt(source, head.at + head.size);
  if (segment?.id !== ID.segment) unsure('no Segment');
  const truncated = !segment.unknown && segment.at + segment.size > source.size;
  const layout: Layout = { docType, origin: segment.at, sections: new Map(), firstCluster: undefined, truncated };
  const seeks = await walk(source, layout);
  await follow({ source, layout, seeks, depth: 0 });
  return layout;
}

async function walk(source: ByteSource, layout: Layout): Promise<Placed[]> {
  const seeks: Placed[] = [];
  let at = layout.origin;
  for (let i = 0; i < MAX_WALK && at < source.size; i += 1) {
    const placed = await placedAt(source, at);
    if (!placed) break;
    if (placed.id === ID.cluster) {
      layout.firstCluster = placed;
      break;
    }
    if (placed.unknown) unsure('unknown size');
    if (placed.id === ID.seekHead) seeks.push(placed);
    else note(layout, placed, source);
    at = placed.at + placed.size;
  }
  return seeks;
}

function note(layout: Layout, placed: Placed, source: ByteSource): void {
  const whole = placed.at + placed.size <= source.size;
  if (SECTIONS.has(placed.id) && whole && !layout.sections.has(placed.id)) layout.sections.set(placed.id, placed);
}

interface Search {
  source: ByteSource;
  layout: Layout;
  seeks: readonly Placed[];
  depth: number;
}

async function follow({ source, layout, seeks, depth }: Search): Promise<void> {
  const more: Placed[] = [];
  for (const seek of seeks) {
    for (const entry of children(await load(source, seek, 1024 * 1024), ID.seek)) {
      const placed = await target(source, layout, entry);
      if (placed?.id === ID.seekHead) more.push(placed);
      else if (placed) note(layout, placed, source);
    }
  }
  if (more.length > 0 && depth < 1) await follow({ source, layout, seeks: more, depth: depth + 1 });
}

/** The element of an entry, if it exists there and is not known yet. */
async function target(source: ByteSource, layout: Layout, entry: Buffer): Promise<Placed | undefined> {
  const id = uint(child(entry, ID.seekId) ?? Buffer.alloc(0));
  const position = child(entry, ID.seekPosition);
  if (!position || layout.sections.has(id) || (id !== ID.seekHead && !SECTIONS.has(id))) return undefined;
  const at = layout.origin + uint(position);
  if (at >= source.size) return undefined;
  const placed = await placedAt(source, at);
  return placed?.id === id ? placed : undefined;
}

/** The content of a section, or undefined if the file has none. */
export async function section(source: ByteSource, layout: Layout, id: number): Promise<Buffer | undefined> {
  const placed = layout.sections.get(id);
  return placed && load(source, placed, SECTION_LIMIT);
}
