import type { ProbedStream } from '#platform/media.ts';

/** A file attached to a film. */
export interface AttachedName {
  /** Unique in the film; duplicates get a number. */
  name: string;
  mime: string | undefined;
  /** Position among all attachments. */
  place: number;
}

type Attachment = Pick<ProbedStream, 'index' | 'kind' | 'attachedPicture' | 'fileName' | 'mime'>;

/** Names of the attached files in order, without pictures. Folders in a name are removed. */
export function attachedNames(streams: readonly Attachment[]): AttachedName[] {
  const attached = streams
    .filter((one) => one.kind === 'attachment' || one.attachedPicture)
    .sort((a, b) => a.index - b.index);
  const taken = new Set<string>();
  return attached.flatMap(({ kind, fileName, mime }, place) => {
    const bare = fileName?.split(/[\\/]/).at(-1);
    if (kind !== 'attachment' || !bare || ['.', '..'].includes(bare)) return [];
    const name = free(bare, taken);
    taken.add(name);
    return [{ name, mime, place }];
  });
}

function free(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let tried = name;
  for (let n = 2; taken.has(tried); n += 1) tried = `${stem} (${n})${end}`;
  return tried;
}
