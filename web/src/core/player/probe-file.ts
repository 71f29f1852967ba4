import type { FoyerClient, PlaybackStart } from '../../../../api/client/index.ts';
import { problemOf } from '../api/errors.ts';
import type { Sign } from './recovery.ts';

/** Requests one byte of the file that is played directly: the media element does not report the status of a response. */
export async function probeFile(api: FoyerClient, { session }: PlaybackStart): Promise<Sign | undefined> {
  try {
    const request = { params: { fileId: session.mediaFileId }, query: { session: session.id } };
    const response = await api.streamFile({ ...request, headers: { range: 'bytes=0-0' } });
    await response.body?.cancel();
    return undefined;
  } catch (error) {
    const { status = 0, code, retryAfterSec } = problemOf(error);
    return { kind: 'network', status, code, ...(retryAfterSec !== undefined && { retryAfterSec }) };
  }
}
