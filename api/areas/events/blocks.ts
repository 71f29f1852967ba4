import { newId } from '#platform/ids.ts';
import type { ResetReason } from './events.schemas.ts';
import type { Published } from './feed.ts';

/** Blocks of the stream. JSON contains no line breaks, so each data field is one line. */
export const opening = (position: string): string => `retry: 3000\nid: ${position}\n\n`;
export const keepAlive = (position: string): string => `:\n\nid: ${position}\n\n`;

/** An event as bytes, encoded once for all readers of a class. */
export function message({ id, event, at }: Published, payload: Record<string, unknown>): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify({ id, event, at, payload })}\n\n`);
}

export function reset(position: string, payload: { reason: ResetReason; missed: boolean }): string {
  const envelope = { id: newId(), event: 'stream.reset', at: new Date().toISOString(), payload };
  return `id: ${position}\nevent: stream.reset\ndata: ${JSON.stringify(envelope)}\n\n`;
}
