import { z } from 'zod';
import { Conditions } from './conditions.ts';
import { cron, label, nodeSelector, objectName, resources, secretKeyRef, serverRef, url } from './core.ts';
import { exactlyOne, type Kind, namedWithin, quantity, withRules } from './structural.ts';

const GLOB = /^[^/\\]{1,100}$/;
const globs = () => z.array(z.string().max(100).regex(GLOB)).max(200).default([]);

const Hdhomerun = exactlyOne(
  z.strictObject({
    address: z.string().min(1).max(253).optional().describe('Host name or address.'),
    deviceId: z
      .string()
      .max(8)
      .regex(/^[0-9A-Fa-f]{8}$/)
      .optional()
      .describe('Device id, found by broadcast.'),
  }),
);

const M3u = exactlyOne(
  z.strictObject({
    url: url().optional().describe('Address of the playlist.'),
    urlSecretRef: secretKeyRef('url').optional().describe('Address of the playlist, where it holds a credential.'),
    maxStreams: z.int().min(1).max(100).default(1).describe('Streams that the provider allows at once.'),
    userAgent: z.string().max(200).optional().describe('User-Agent header.'),
  }),
  ['url', 'urlSecretRef'],
);

const kinds = ['hdhomerun', 'm3u'] as const;
const Source = withRules(
  z.strictObject({
    hdhomerun: Hdhomerun.optional().describe('An HDHomeRun; exactly one of address, deviceId.'),
    m3u: M3u.optional().describe('A playlist; exactly one of url, urlSecretRef.'),
  }),
  {
    rule: '[has(self.hdhomerun), has(self.m3u)].exists_one(x, x)',
    message: 'exactly one of hdhomerun, m3u',
    holds: (source) => kinds.filter((kind) => source[kind] !== undefined).length === 1,
  },
  { rule: 'has(self.m3u) == has(oldSelf.m3u)', message: 'the kind of source cannot be changed', holds: () => true },
);

const Guide = withRules(
  z.strictObject({
    xmltv: exactlyOne(
      z.strictObject({
        url: url().optional().describe('Address of the guide.'),
        urlSecretRef: secretKeyRef('url').optional().describe('Address of the guide, where it holds a credential.'),
      }),
    )
      .optional()
      .describe('An XMLTV guide; exactly one of url, urlSecretRef.'),
    device: z.boolean().optional().describe("The device's own guide."),
    refresh: cron().default('0 */6 * * *').describe("Five-field cron, in the server's time zone."),
    days: z.int().min(1).max(21).default(7).describe('Days of the guide that are kept.'),
  }),
  {
    rule: '!(has(self.xmltv) && has(self.device) && self.device)',
    message: 'at most one of xmltv, device',
    holds: (guide) => !(guide.xmltv && guide.device),
  },
);

/** Names of children are up to six characters longer, and Services allow 63. */
const NAME_MAX = 57;

export const TunerDeviceSpec = z.strictObject({
  serverRef: serverRef(),
  displayName: z.string().min(1).max(80).optional().describe('Name in the app; default: metadata.name.'),
  source: Source.describe('Where channels come from; exactly one of hdhomerun, m3u, and its kind cannot be changed.'),
  guide: Guide.optional().describe('The programme guide.'),
  channels: z
    .strictObject({
      include: globs().describe(
        'Names or numbers to include, with `*`, `?` and classes such as [1-3], in any letter case; empty includes all.',
      ),
      exclude: globs().describe('Names or numbers to exclude, likewise.'),
      numbering: z.enum(['source', 'sequential']).default('source').describe("The source's numbers, or 1, 2, 3."),
    })
    .prefault({})
    .describe('Which channels are included.'),
  timeshift: z
    .strictObject({
      minutes: z.int().min(0).max(360).default(60).describe('Length of the rewind buffer, in minutes.'),
      storage: exactlyOne(
        z.strictObject({
          emptyDir: z
            .strictObject({ sizeLimit: quantity().optional().describe('Maximum size.') })
            .optional()
            .describe('Space of the node.'),
          persistentVolumeClaim: z
            .strictObject({ claimName: objectName().describe('Name of the PersistentVolumeClaim.') })
            .optional()
            .describe('A claim.'),
        }),
      )
        // Without a default in the schema: a default would remain next to the other member when that is applied.
        .optional()
        .describe('Storage of the buffer; exactly one of emptyDir, persistentVolumeClaim. Default: emptyDir.'),
    })
    .prefault({})
    .describe('Rewind buffer of live television.'),
  libraryRef: z
    .strictObject({ name: label().describe('Name of the Library.') })
    .optional()
    .describe(
      'The Library of type livetv that its channels belong to, and its recordings join. Changed later, it is that of later recordings. Default: the oldest one.',
    ),
  recordings: z
    .strictObject({ media: label().describe('A writable entry of spec.media of the MediaServer.') })
    .optional()
    .describe('Where recordings go.'),
  resources: resources(),
  hostNetwork: z
    .boolean()
    .default(false)
    .describe('Use the network of the node, for discovery by broadcast; needs a privileged namespace.'),
  nodeSelector: nodeSelector(),
});
export type TunerDeviceSpec = z.output<typeof TunerDeviceSpec>;

const count = () => z.int().min(0).optional();
const time = () => z.iso.datetime().optional();

export const TunerDeviceStatus = z.object({
  observedGeneration: count().describe('The metadata.generation of this status.'),
  tuners: z
    .object({ total: count().describe('Tuners of the device.'), inUse: count().describe('Tuners in use.') })
    .optional()
    .describe('Tuners.'),
  live: count().describe('Channels that are being watched.'),
  recording: count().describe('Recordings in progress.'),
  channels: count().describe('Channels.'),
  programmes: count().describe('Programmes in the guide.'),
  lastGuideRefresh: time().describe('When the guide was last read.'),
  nextRecordingAt: time().describe('When the next recording begins.'),
  conditions: Conditions,
});
export type TunerDeviceStatus = z.output<typeof TunerDeviceStatus>;

export const tunerDevice: Kind = {
  kind: 'TunerDevice',
  plural: 'tunerdevices',
  short: 'tuner',
  rules: [namedWithin(NAME_MAX)],
  description: 'A network tuner or a playlist of channels, with its guide, for watching and recording.',
  spec: TunerDeviceSpec,
  status: TunerDeviceStatus,
  columns: [
    { name: 'Server', type: 'string', jsonPath: '.spec.serverRef.name' },
    { name: 'Channels', type: 'integer', jsonPath: '.status.channels' },
    { name: 'In Use', type: 'integer', jsonPath: '.status.tuners.inUse' },
    { name: 'Live', type: 'integer', jsonPath: '.status.live' },
    { name: 'Recording', type: 'integer', jsonPath: '.status.recording' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  ],
};
