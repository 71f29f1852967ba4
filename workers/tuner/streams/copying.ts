import type { Writable } from 'node:stream';

/** Arguments of ffmpeg: the streams are only copied, by one demuxer and without a network. */
export const COPYING = [
  ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'pipe'],
  ...['-fflags', '+genpts+discardcorrupt', '-probesize', '1000000', '-analyzeduration', '800000'],
  ...['-f', 'mpegts', '-i', 'pipe:0', '-map', '0:v:0?', '-map', '0:a?', '-map', '0:s?', '-dn', '-c', 'copy'],
  ...['-max_interleave_delta', '500000', '-muxdelay', '0', '-muxpreload', '0', '-flush_packets', '1'],
  ...['-f', 'mpegts', 'pipe:1'],
];

/** Resolves when the pipe takes more bytes, or when it is closed or the reception stops. */
export async function roomIn(input: Writable, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      input.off('drain', done);
      input.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    input.once('drain', done);
    input.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
