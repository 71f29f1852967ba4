// The address of the player, written and read.
import type { StartPlaybackBody } from '../../../../api/client/index.ts';

export interface PlayFrom {
  /** Absent: the server resumes. */
  startMs?: number;
  /** One of several editions. */
  fileId?: string;
}

/** `t` is in seconds. */
export function playPath(id: string, { startMs, fileId }: PlayFrom = {}): string {
  const query = new URLSearchParams();
  if (startMs !== undefined) query.set('t', String(startMs / 1000));
  if (fileId !== undefined) query.set('file', fileId);
  return query.size > 0 ? `/play/${id}?${query}` : `/play/${id}`;
}

/** The start that an address names. */
export function openRequest(search: string): StartPlaybackBody {
  const query = new URLSearchParams(search);
  const seconds = Number(query.get('t') || Number.NaN);
  const fileId = query.get('file');
  return {
    ...(Number.isFinite(seconds) && seconds >= 0 && { startMs: Math.round(seconds * 1000) }),
    ...(fileId && { fileId }),
  };
}

/** The request by which a player begins, with the clips before the film. */
export const beginning = (body: StartPlaybackBody): StartPlaybackBody => ({ preroll: true, ...body });
