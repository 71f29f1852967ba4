import type { Db } from '#platform/db.ts';

/** Subtitles of a file that came from providers. */
export interface Here {
  /** The stream that a provider's file became. */
  byFile: (provider: string, file: string) => string | undefined;
  /** The stream with the same text. */
  byContent: (sha256: string) => string | undefined;
}

interface Origin {
  stream_id: string;
  provider: string | null;
  provider_file: string | null;
  sha256: string;
}

/** Kept on the server or written next to the film. */
export async function findHere(db: Db, fileId: string): Promise<Here> {
  const columns = ['stream_id', 'provider', 'provider_file', 'sha256'] as const;
  const kept: Origin[] = await db('kept_subtitles').where({ file_id: fileId, source: 'fetched' }).select(columns);
  const sidecars: Origin[] = await db('subtitle_origins').where({ file_id: fileId }).select(columns);
  const all = [...kept, ...sidecars];
  return {
    byFile: (provider, file) => all.find((one) => one.provider === provider && one.provider_file === file)?.stream_id,
    byContent: (sha256) => all.find((one) => one.sha256 === sha256)?.stream_id,
  };
}
