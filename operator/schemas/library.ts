import { z } from 'zod';
import { Conditions } from './conditions.ts';
import { country, cron, insidePath, label, language, serverRef } from './core.ts';
import { exactlyOne, immutable, type Kind, listMap, setOf } from './structural.ts';

const TYPE = /^(movies|shows|videos|music|photos|books|comics|games|courses|livetv|custom:[a-z0-9-]{1,40})$/;
const analysis = () => z.boolean().optional();

export const LibrarySpec = z.strictObject({
  serverRef: serverRef(),
  displayName: z.string().min(1).max(80).optional().describe('Name in the app; default: metadata.name.'),
  type: immutable(z.string().max(50).regex(TYPE)).describe('Library type, or custom:<key>; cannot be changed.'),
  folders: listMap(
    ['media', 'path'],
    z.strictObject({
      media: label().describe('Name of an entry of spec.media of the MediaServer.'),
      path: insidePath().default('/').describe('Folder inside it, without `..`.'),
    }),
    100,
  )
    .default([])
    .describe('Folders that are scanned.'),
  agents: setOf(z.string().min(1).max(100), 20)
    .optional()
    .describe('Metadata agents in their order; default: those of the type.'),
  language: language().optional().describe("Language of metadata; default: the server's."),
  country: country().optional().describe("Country of ratings and releases; default: the server's."),
  settings: z
    .strictObject({
      previewThumbnails: analysis().describe('Create preview pictures for the seek bar.'),
      introDetection: analysis().describe('Find intros.'),
      creditsDetection: analysis().describe('Find credits.'),
      voiceActivity: analysis().describe('Find speech.'),
      saveNfo: z.boolean().optional().describe('Write metadata next to the media as NFO, ComicInfo.xml and XMP.'),
      saveArtwork: z.boolean().optional().describe('Write pictures next to the media.'),
    })
    .optional()
    .describe('Analyses, which follow the server when absent, and files next to the media, which are off by default.'),
  access: exactlyOne(
    z.strictObject({
      everyone: z.literal(true).optional().describe('Every account.'),
      roles: setOf(z.enum(['admin', 'member', 'child', 'guest']), 4)
        .optional()
        .describe('Accounts of these roles.'),
      users: setOf(z.string().min(1).max(64), 500).optional().describe('These accounts, by username.'),
    }),
  )
    .optional()
    .describe('Who can view it; exactly one of everyone, roles, users. Default: everyone.'),
  ageLimit: z.int().min(0).max(21).optional().describe('Minimum age of accounts that can view it.'),
  scan: z
    .strictObject({
      onChange: z.boolean().default(true).describe('Watch the folders.'),
      schedule: cron().default('0 4 * * *').describe("Five-field cron, in the server's time zone."),
    })
    .prefault({})
    .describe('When it is scanned; a new value of the annotation foyer.media/scan requests a scan now.'),
  order: z.int().min(0).max(10_000).optional().describe('Position among the libraries, ascending.'),
  deletionPolicy: z
    .enum(['Retain', 'Delete'])
    .default('Retain')
    .describe('Whether the server keeps the data of the library; media files are never changed.'),
});
export type LibrarySpec = z.output<typeof LibrarySpec>;

const count = () => z.int().min(0).optional();

export const LibraryStatus = z.object({
  observedGeneration: count().describe('The metadata.generation of this status.'),
  libraryId: z.string().max(64).optional().describe('Id of the library in the API.'),
  items: count().describe('Items.'),
  sizeBytes: count().describe('Size of all files, in bytes.'),
  lastScan: z
    .object({
      startedAt: z.iso.datetime().optional().describe('When it began.'),
      finishedAt: z.iso.datetime().optional().describe('When it ended.'),
      added: count().describe('Items added.'),
      updated: count().describe('Items changed.'),
      missing: count().describe('Items whose file is missing.'),
      result: z.string().max(64).optional().describe('State of the scan.'),
    })
    .optional()
    .describe('The newest scan.'),
  scanRequest: z
    .string()
    .max(1024)
    .optional()
    .describe('Value of the annotation foyer.media/scan that was handled last.'),
  conditions: Conditions,
});
export type LibraryStatus = z.output<typeof LibraryStatus>;

export const library: Kind = {
  kind: 'Library',
  plural: 'libraries',
  short: 'lib',
  description: 'A library of a MediaServer: folders of media of one type.',
  spec: LibrarySpec,
  status: LibraryStatus,
  columns: [
    { name: 'Server', type: 'string', jsonPath: '.spec.serverRef.name' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Items', type: 'integer', jsonPath: '.status.items' },
    { name: 'Last Scan', type: 'date', jsonPath: '.status.lastScan.finishedAt' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  ],
};
