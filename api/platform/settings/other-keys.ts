import { z } from 'zod';
import { type Queue, queues } from '../jobs.ts';
import {
  address,
  bool,
  bytes,
  type Definition,
  GIB,
  HOME,
  int,
  maybeAddress,
  maybeBytes,
  maybeText,
  networks,
  setting,
  strings,
} from './define.ts';

const everyoneOrAdmins = () => z.enum(['admins', 'everyone']).default('everyone');
const relativePath = () =>
  z
    .string()
    .max(4096)
    .refine((path) => !path.startsWith('/') && !path.includes('\0') && !path.split('/').includes('..'), {
      error: 'a relative path without ..',
      params: { code: 'bad_path' },
    });

type ConcurrencyKeys = { [Q in Queue as `jobs.concurrency.${Q}`]: Definition<z.ZodDefault<z.ZodNullable<z.ZodInt>>> };
const concurrency = Object.fromEntries(
  queues.map((queue) => [
    `jobs.concurrency.${queue}`,
    setting(z.int().min(0).max(64).nullable().default(null), 'Jobs'),
  ]),
) as unknown as ConcurrencyKeys;

/** Groups collections, playlists, music, discover, spine, subtitles, live, dvr and those of other areas. */
export const otherKeys = {
  'collections.autoMin': setting(int(0, 20, 2), 'Collections'),
  'playlists.fromFiles': setting(bool(false), 'Playlists'),
  'music.listenBrainz': setting(bool(false), 'Music'),
  'music.listenBrainzToken': setting(maybeText(200), 'Music', 'S'),
  'discover.enabled': setting(bool(true), 'Discover'),
  'spine.auto': setting(bool(false), 'Spine'),
  'spine.url': setting(maybeAddress(), 'Spine'),
  'spine.trustedKeys': setting(strings(10), 'Spine', 'O'),
  'subtitles.dailyAllowance': setting(int(0, 1000, 10), 'Subtitles'),
  'subtitles.model': setting(z.string().min(1).max(100).default('base'), 'Subtitles'),
  'subtitles.place': setting(z.enum(['server', 'beside']).default('server'), 'Subtitles'),
  'subtitles.providers': setting(z.array(z.string().max(100)).max(50).nullable().default(null), 'Subtitles'),
  'subtitles.folder.storageId': setting(z.uuid().nullable().default(null), 'Subtitles'),
  'subtitles.folder.path': setting(relativePath().nullable().default(null), 'Subtitles'),
  'subtitles.opensubtitles.baseUrl': setting(
    address(['https:', 'http:']).default('https://api.opensubtitles.com'),
    'Subtitles',
  ),
  'subtitles.tools.find': setting(everyoneOrAdmins(), 'Subtitles'),
  'subtitles.tools.sync': setting(everyoneOrAdmins(), 'Subtitles'),
  'subtitles.tools.generate': setting(everyoneOrAdmins(), 'Subtitles'),
  'live.bufferMinutes': setting(int(0, 360, 90), 'Live TV'),
  'live.bufferBytes': setting(bytes(50 * GIB), 'Live TV'),
  'live.releaseSec': setting(int(0, 600, 30), 'Live TV'),
  'live.allowedNetworks': setting(networks(...HOME), 'Live TV'),
  'dvr.libraryId': setting(z.uuid().nullable().default(null), 'Live TV'),
  'dvr.startPadMs': setting(int(0, 3_600_000, 60_000), 'Live TV'),
  'dvr.endPadMs': setting(int(0, 10_800_000, 180_000), 'Live TV'),
  'dvr.quotaBytes': setting(maybeBytes(), 'Live TV'),
  'dvr.keepFreeBytes': setting(bytes(20 * GIB), 'Live TV'),
  'dvr.viewersYield': setting(bool(true), 'Live TV'),
  'dvr.detectCommercials': setting(bool(false), 'Live TV'),
  'storages.personal': setting(bool(true), 'Storage'),
  'storages.personalHosts': setting(strings(50), 'Storage'),
  'scan.concurrent': setting(int(1, 16, 2), 'Scanning'),
  'uploads.maxFileBytes': setting(bytes(20 * GIB), 'Uploads'),
  'games.savesBytesPerAccount': setting(bytes(2 * GIB), 'Games'),
  'webhooks.allowedNetworks': setting(networks(), 'Webhooks'),
  'plugins.allowedNetworks': setting(networks(), 'Plugins'),
  'plugins.catalogues': setting(z.array(address()).max(10).default([]), 'Plugins'),
  'plugins.trustedKeys': setting(strings(20), 'Plugins', 'O'),
  'imports.allowedNetworks': setting(networks(...HOME), 'Import'),
  'backup.includeFaces': setting(bool(false), 'Backup'),
  'backup.requireEncryption': setting(z.enum(['outside', 'always', 'never']).default('outside'), 'Backup'),
  'stats.keepDays': setting(int(0, 36_500, 0), 'Stats'),
  'stats.adminsSeeHistory': setting(bool(true), 'Stats'),
  'support.keepDays': setting(int(1, 3650, 365), 'Support'),
  'jobs.paused': setting(z.array(z.enum(queues)).max(queues.length).default([]), 'Jobs', 'N'),
  ...concurrency,
};
