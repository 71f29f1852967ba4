// What a person does with the pictures of an item. Each change makes every answer that carries its pictures old.
import type { ArtworkKind, UpdateImageBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate, query } from '#core/cache/query.ts';

export const artworkQuery = (id: string) => query('listItemArtwork', { params: { id } });

interface Place {
  id: string;
  kind: ArtworkKind;
}

async function changed<T>(work: Promise<T>): Promise<T> {
  const answer = await work;
  for (const name of ['listItemArtwork', 'getItem', 'getItemTree', 'listItems'] as const) void invalidate(name);
  return answer;
}

/** A choice that is not locked may be another one after the next scan. */
export const choose = (params: Place, imageIds: readonly string[], lock = true): Promise<unknown> =>
  changed(api.setItemArtwork({ params, body: { imageIds: [...imageIds], lock } }));

/** Focus, crop and rotation; null undoes them. */
export const change = (id: string, body: UpdateImageBody): Promise<unknown> =>
  changed(api.updateImage({ params: { id }, body }));

export const reset = (params: Place): Promise<unknown> => changed(api.resetItemArtwork({ params }));

export const remove = (id: string): Promise<unknown> => changed(api.deleteImage({ params: { id } }));

export function upload({ id, kind }: Place, file: File): Promise<unknown> {
  const body = new FormData();
  body.append('kind', kind);
  body.append('file', file);
  return changed(api.uploadItemArtwork({ params: { id }, body }));
}

export const fetchFrom = ({ id, kind }: Place, url: string): Promise<unknown> =>
  changed(api.importItemArtwork({ params: { id }, body: { kind, url } }));

/** Fetches a picture that a catalogue offers, and shows it. */
export async function takeCandidate({ id, kind }: Place, candidateId: string): Promise<void> {
  await changed(api.importItemArtwork({ params: { id }, body: { kind, candidateId } }));
  void invalidate('searchItemArtwork');
}

const FRAMES = ['thumb', 'backdrop', 'still', 'poster'] as const;
type FrameKind = (typeof FRAMES)[number];
export const isFrameKind = (kind: ArtworkKind): kind is FrameKind => (FRAMES as readonly string[]).includes(kind);

export const capture = (id: string, kind: FrameKind, positionMs: number): Promise<unknown> =>
  changed(api.captureItemArtwork({ params: { id }, body: { kind, positionMs } }));

/** `1:02:03`, `12:30` or `45` in milliseconds; undefined for anything else. */
export function positionOf(text: string): number | undefined {
  const parts = text.trim().split(':');
  if (parts.length > 3 || !parts.every((part) => /^\d{1,3}$/.test(part))) return undefined;
  return parts.reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}
