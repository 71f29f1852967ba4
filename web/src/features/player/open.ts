import type { StartPlaybackBody } from 'foyer-client';

/** What the address says of the start: `t` in seconds, `file`; without `t` the server resumes. */
export function openRequest(search: string): StartPlaybackBody {
  const query = new URLSearchParams(search);
  const seconds = Number(query.get('t') ?? Number.NaN);
  const fileId = query.get('file');
  return {
    ...(Number.isFinite(seconds) && seconds >= 0 && { startMs: Math.round(seconds * 1000) }),
    ...(fileId && { fileId }),
  };
}
