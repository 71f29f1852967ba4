// The reports of a playback session, sent by the client of the page.
import type { PlaybackStart, ReportPlaybackResponse } from '../../../../api/client/index.ts';
import { problemOf } from '../api/errors.ts';
import type { PlaybackHome } from './playback.ts';
import type { Reached } from './reached.ts';
import type { Reading } from './reading.ts';
import { Reporter } from './report.ts';

export interface Reporting {
  reached: Reached;
  read(): Reading | undefined;
  answered(answer: ReportPlaybackResponse): void;
  /** The server no longer has the session. */
  lost(): void;
}

export function reporterOf(
  { api, outbox, parting }: Pick<PlaybackHome, 'api' | 'outbox' | 'parting'>,
  { session, keepAliveMs }: PlaybackStart,
  { reached, read, answered, lost }: Reporting,
): Reporter {
  const { id, itemId, profileId = '', mediaFileId: fileId } = session;
  return new Reporter({
    session: { id, itemId, profileId, fileId },
    keepAliveMs,
    outbox,
    reached,
    now: Date.now,
    read,
    send: (of, body) => api.reportPlayback({ params: { id: of }, body }),
    sendLast: (of, body) => parting.reportPlayback({ params: { id: of }, body }),
    end: (of, positionMs) =>
      parting.endPlaybackSession({ params: { id: of }, query: positionMs === undefined ? {} : { positionMs } }),
    answered,
    failed: (error) => {
      const { reason, status } = problemOf(error);
      if (status === 404 || reason === 'session-stopped') lost();
    },
  });
}
