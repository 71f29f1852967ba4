// The one place where tuners and channels meet the guide.
import { z } from 'zod';
import { Id, Timestamp } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';

/** A programme as a channel shows it. */
export const ShownProgram = z
  .object({
    id: Id,
    channelId: Id,
    title: z.string(),
    startAt: Timestamp,
    endAt: Timestamp,
  })
  .meta({ id: 'ChannelProgram' });
export type ShownProgram = z.output<typeof ShownProgram>;

export interface OnAir {
  now?: ShownProgram;
  next?: ShownProgram;
}

/** The current and the next programme of each channel, in one lookup for a page; nothing while no guide is kept. */
export async function onAir(_db: Db, _channelIds: readonly string[]): Promise<ReadonlyMap<string, OnAir>> {
  return new Map();
}

/** The guide source of each tuner that has one. */
export async function guideSourcesOf(_db: Db, _tunerIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map();
}

/** Times between which the guide has programmes. */
export async function guideCoverage(_db: Db): Promise<{ coverageFrom?: string; coverageUntil?: string }> {
  return {};
}

/** Whether a guide knows such a channel; none does while no guide is kept. */
export async function isGuideChannel(
  _db: Db,
  _guide: { guideSourceId: string; guideChannelId: string },
): Promise<boolean> {
  return false;
}
