import type { Draft } from '../group/draft.ts';
import type { Read } from './files.ts';

/**
 * What `rollUpItems` would compute for a new item whose files are all new. Written with its row, because a later update would
 * enter the item in every index again. Empty where some file was not read: the rollup follows in any case.
 */
export function totalsOf({ files }: Draft, reads: ReadonlyMap<string, Read>): Record<string, unknown> {
  const all = files.flatMap(({ path, walked, rank, parts }) => {
    const read = reads.get(path);
    return read && 'probed' in read ? [{ size: walked.size, rank, parts: parts ?? 0, ...contentOf(read) }] : [];
  });
  if (all.length === 0 || all.length < files.length) return {};
  const largest = (values: readonly (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length > 0 ? Math.max(...known) : undefined;
  };
  const durations = all.flatMap(({ durationMs }) => durationMs ?? []);
  const inParts = Math.max(...all.map(({ parts }) => parts)) > 1;
  const [first] = all.toSorted((a, b) => a.rank - b.rank);
  return {
    size_bytes: all.reduce((sum, { size }) => sum + size, 0),
    file_count: all.length,
    bitrate: largest(all.map(({ bitrate }) => bitrate)),
    runtime_ms: inParts && durations.length > 0 ? durations.reduce((sum, one) => sum + one, 0) : first?.durationMs,
    height: largest(all.flatMap(({ heights }) => heights)),
    hdr: all
      .flatMap(({ hdr }) => hdr)
      .toSorted()
      .at(-1),
  };
}

interface Content {
  durationMs: number | undefined;
  bitrate: number | undefined;
  heights: number[];
  hdr: string[];
}

function contentOf({ probed: { file } }: Extract<Read, { probed: unknown }>): Content {
  const isLasting = file.durationMs !== 0;
  const pictures = file.streams.filter(
    ({ kind, attachedPicture }) => kind === 'video' && attachedPicture === undefined,
  );
  return {
    durationMs: isLasting ? file.durationMs : undefined,
    bitrate: isLasting ? file.bitrate : undefined,
    heights: pictures.flatMap(({ height }) => height ?? []),
    hdr: pictures.flatMap(({ hdr }) => hdr ?? []),
  };
}
