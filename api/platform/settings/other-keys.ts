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
    setting(
      z.int().min(0).max(64).nullable().default(null),
      `Jobs: jobs of ${queue} at once; from the CPUs when unset`,
    ),
  ]),
) as unknown as ConcurrencyKeys;

/** Groups collections, playlists, music, discover, spine, subtitles, live, dvr and what else areas read. */
export const otherKeys = {
  'collections.autoMin': setting(int(0, 20, 2), 'Collections: fewest films that make a collection; 0 is never'),
  'playlists.fromFiles': setting(bool(false), 'Playlists: take playlists found beside media'),
  'music.listenBrainz': setting(bool(false), 'Music: send listens to ListenBrainz'),
  'music.listenBrainzToken': setting(maybeText(200), 'Music: token of ListenBrainz', 'S'),
  'discover.enabled': setting(bool(true), 'Discover: titles outside the libraries'),
  'spine.auto': setting(bool(false), 'Spine: load new identity packs by itself'),
  'spine.url': setting(maybeAddress(), 'Spine: where identity packs are found'),
  'spine.trustedKeys': setting(strings(10), 'Spine: keys whose packs are trusted', 'O'),
  'subtitles.dailyAllowance': setting(int(0, 1000, 10), 'Subtitles: uses of the tools that an account has a day'),
  'subtitles.model': setting(z.string().min(1).max(100).default('base'), 'Subtitles: speech model'),
  'subtitles.place': setting(z.enum(['server', 'beside']).default('server'), 'Subtitles: where fetched ones are kept'),
  'subtitles.providers': setting(
    z.array(z.string().max(100)).max(50).nullable().default(null),
    'Subtitles: providers in their order',
  ),
  'subtitles.folder.storageId': setting(z.uuid().nullable().default(null), 'Subtitles: storage of the folder provider'),
  'subtitles.folder.path': setting(relativePath().nullable().default(null), 'Subtitles: path of the folder provider'),
  'subtitles.opensubtitles.baseUrl': setting(
    address().default('https://api.opensubtitles.com'),
    'Subtitles: address of the service',
  ),
  'subtitles.tools.find': setting(everyoneOrAdmins(), 'Subtitles: who may search'),
  'subtitles.tools.sync': setting(everyoneOrAdmins(), 'Subtitles: who may correct timing'),
  'subtitles.tools.generate': setting(everyoneOrAdmins(), 'Subtitles: who may have subtitles made'),
  'live.bufferMinutes': setting(int(0, 360, 90), 'Live TV: minutes that can be rewound'),
  'live.bufferBytes': setting(bytes(50 * GIB), 'Live TV: most that buffers may take'),
  'live.releaseSec': setting(int(0, 600, 30), 'Live TV: seconds until an unwatched tuner is freed'),
  'live.allowedNetworks': setting(networks(...HOME), 'Live TV: networks that tuners and guides may be in'),
  'dvr.libraryId': setting(z.uuid().nullable().default(null), 'Live TV: library that recordings go to'),
  'dvr.startPadMs': setting(int(0, 3_600_000, 60_000), 'Live TV: recorded before the start, in milliseconds'),
  'dvr.endPadMs': setting(int(0, 10_800_000, 180_000), 'Live TV: recorded after the end, in milliseconds'),
  'dvr.quotaBytes': setting(maybeBytes(), 'Live TV: most that recordings may take'),
  'dvr.keepFreeBytes': setting(bytes(20 * GIB), 'Live TV: space that recordings leave free'),
  'dvr.viewersYield': setting(bool(true), 'Live TV: recordings go before viewers'),
  'dvr.detectCommercials': setting(bool(false), 'Live TV: mark advertising breaks'),
  'storages.personal': setting(bool(true), 'Storage: members may connect drives of their own'),
  'storages.personalHosts': setting(strings(50), 'Storage: private hosts that members may connect'),
  'scan.concurrent': setting(int(1, 16, 2), 'Scanning: scans at once'),
  'uploads.maxFileBytes': setting(bytes(20 * GIB), 'Uploads: largest upload'),
  'games.savesBytesPerAccount': setting(bytes(2 * GIB), 'Games: most that saves of an account may take'),
  'webhooks.allowedNetworks': setting(networks(), 'Webhooks: private networks that webhooks may call'),
  'plugins.allowedNetworks': setting(networks(), 'Plugins: private networks that plugins may call'),
  'plugins.catalogues': setting(z.array(address()).max(10).default([]), 'Plugins: catalogues of plugins'),
  'plugins.trustedKeys': setting(strings(20), 'Plugins: keys whose plugins are trusted', 'O'),
  'imports.allowedNetworks': setting(networks(...HOME), 'Import: networks that imports may call'),
  'backup.includeFaces': setting(bool(false), 'Backup: faces are in backups'),
  'backup.requireEncryption': setting(
    z.enum(['outside', 'always', 'never']).default('outside'),
    'Backup: which backups must be sealed',
  ),
  'stats.keepDays': setting(int(0, 36_500, 0), 'Stats: days that history is kept; 0 is for ever'),
  'stats.adminsSeeHistory': setting(bool(true), 'Stats: admins see the history of others'),
  'support.keepDays': setting(int(1, 3650, 365), 'Support: days that bug reports are kept'),
  'jobs.paused': setting(z.array(z.enum(queues)).max(queues.length).default([]), 'Jobs: queues that stand still', 'N'),
  ...concurrency,
};
