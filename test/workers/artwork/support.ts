// A library whose pictures are fetched by the real jobs, one after another as the queue would run them.
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import type { Api } from '#support/api.ts';
import { fetchArtwork } from '#workers/artwork/fetch.ts';
import { makeFrames } from '#workers/artwork/frames.ts';
import { Postponed } from '#workers/work.ts';
import { newPlace, type Place } from '../scan/support.ts';

export interface PicturedPlace extends Place {
  picture(name: string, make?: { width?: number; height?: number; colour?: string; at?: Date }): Promise<Buffer>;
  write(name: string, bytes: Buffer, at?: Date): Promise<void>;
  /** Scans and runs the jobs that the scan queued. */
  show(): Promise<void>;
  fetch(): Promise<object>;
  images(title?: string): Promise<ImageRow[]>;
  artworkOf(
    title: string,
  ): Promise<Record<string, { id: string; kind: string; width: number; height: number; version: string }>>;
}

export interface ImageRow {
  id: string;
  title: string;
  kind: string;
  source: string;
  sha256: string;
  width: number;
  height: number;
  version: number;
  blurhash: string;
  dominant: string;
  palette: string[];
  discarded: boolean;
}

const OLD = new Date(Date.now() - 3_600_000);

/** Two colours, so that no picture is flat. */
export async function painted(width: number, height: number, colour: string): Promise<Buffer> {
  const half = await sharp({ create: { width: Math.ceil(width / 2), height, channels: 3, background: '#102030' } })
    .png()
    .toBuffer();
  return sharp({ create: { width, height, channels: 3, background: colour } })
    .composite([{ input: half, left: 0, top: 0 }])
    .jpeg()
    .toBuffer();
}

export async function newPicturedPlace(type: string, on?: Api): Promise<PicturedPlace> {
  const place = await newPlace(type, {}, on);
  const { db } = place.api.deps;
  const quietly = async (work: () => Promise<object>): Promise<object> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Postponed) return { postponed: true };
      throw error;
    }
  };
  const pictured: PicturedPlace = {
    ...place,
    async write(name, bytes, at = OLD) {
      const target = join(place.path, name);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, bytes);
      await utimes(target, at, at);
    },
    async picture(name, { width = 400, height = 600, colour = '#c04020', at = OLD } = {}) {
      const bytes = await painted(width, height, colour);
      await pictured.write(name, bytes, at);
      return bytes;
    },
    async show() {
      expect((await place.scan()).state).to.equal('completed');
      await pictured.fetch();
    },
    async fetch() {
      const { libraryId } = place;
      await quietly(() => fetchArtwork({ libraryId }, place.work()));
      return quietly(() => makeFrames({ libraryId }, place.work()));
    },
    images: async (title) =>
      db('images as m')
        .join('items as i', 'i.id', 'm.owner_id')
        .where('i.library_id', place.libraryId)
        .modify((query) => {
          if (title !== undefined) void query.where('i.title', title);
        })
        .orderBy(['i.title', 'm.kind', 'm.source', 'm.id'])
        .select<ImageRow[]>('m.*', 'i.title'),
    async artworkOf(title) {
      const row = await db('items').where({ library_id: place.libraryId, title }).first('artwork');
      return row?.artwork;
    },
  };
  return pictured;
}
