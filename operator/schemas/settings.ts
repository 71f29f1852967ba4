// spec.settings: every setting that a resource may declare, with its limits. Secret values are references.
import { z } from 'zod';
import { cidr, country, language, secretKeyRef, url } from './core.ts';
import { preserve, setOf } from './structural.ts';

const bool = (what: string) => z.boolean().optional().describe(what);
const int = (min: number, max: number, what: string) => z.int().min(min).max(max).optional().describe(what);
const bytes = (what: string) => z.int().min(0).optional().describe(`${what}, in bytes.`);
const text = (max: number, what: string) => z.string().max(max).optional().describe(what);
const oneOf = <const V extends readonly [string, ...string[]]>(values: V, what: string) =>
  z.enum(values).optional().describe(what);
const address = (what: string) => url().optional().describe(what);
const networks = (what: string) => setOf(cidr(), 50).optional().describe(what);
const words = (count: number, what: string) => setOf(z.string().min(1).max(253), count).optional().describe(what);
const anything = (what: string) =>
  preserve(z.record(z.string().max(100), z.unknown()))
    .optional()
    .describe(what);
const secret = (what: string) =>
  z
    .strictObject({ secretRef: secretKeyRef().describe('Key of a Secret.') })
    .optional()
    .describe(what);

const server = {
  'server.name': z.string().min(1).max(60).optional().describe('Name of the server.'),
  'server.publicUrl': address('Address of the server for people, origin only.'),
  'server.country': country().optional().describe('Country of the household.'),
  'server.language': language().optional().describe('Language of the server.'),
  'server.timeZone': text(64, 'IANA time zone of schedules and days.'),
  'server.notice': text(200, 'Notice shown to everyone.'),
};

const network = {
  'network.trustedProxies': networks('Networks of proxies whose X-Forwarded headers count.'),
  'network.localRanges': networks('Networks that count as the home network.'),
  'network.offline': bool('Block connections outside the cluster and the local ranges.'),
  'network.corsOrigins': words(20, 'Origins that may call with bearer tokens.'),
};

const auth = {
  'auth.password.enabled': bool('Sign in by password.'),
  'auth.password.minLength': int(8, 64, 'Shortest password.'),
  'auth.passkeys.enabled': bool('Sign in by passkey.'),
  'auth.quickConnect.enabled': bool('Sign in by a code approved on another device.'),
  'auth.accountTiles': bool('Show accounts before sign-in in the home network.'),
  'auth.sessionMaxDays': int(1, 3650, 'Longest session, in days.'),
  'auth.twoFactor.requiredRoles': setOf(z.enum(['owner', 'admin', 'member']), 3)
    .optional()
    .describe('Roles that need a second factor.'),
  'auth.oidc.issuer': address('Issuer of the OpenID provider.'),
  'auth.oidc.clientId': text(200, 'Client id at the OpenID provider.'),
  'auth.oidc.clientSecret': secret('Client secret at the OpenID provider.'),
  'auth.oidc.name': text(60, 'Name on the sign-in button.'),
  'auth.oidc.scopes': words(20, 'Requested scopes.'),
  'auth.oidc.createAccounts': bool('Create accounts for unknown users.'),
  'auth.oidc.linkBy': oneOf(['none', 'verified-email', 'username'], 'How existing accounts are matched.'),
  'auth.oidc.defaultRole': oneOf(['member', 'child', 'guest'], 'Role of created accounts.'),
  'auth.oidc.groupsClaim': text(100, 'Claim with the groups.'),
  'auth.oidc.roleMap': z
    .record(z.string().max(200), z.enum(['admin', 'member', 'child', 'guest']))
    .optional()
    .describe('Group to role.'),
  'auth.oidc.trustsSecondFactor': bool("The provider's second factor counts."),
  'auth.oidc.automatic': bool('Redirect to the provider without a prompt.'),
  'auth.oidc.redirectUris': words(20, 'Redirect URIs of apps.'),
  'users.guestDays': int(1, 3650, 'Lifetime of a guest account, in days.'),
};

const mail = {
  'email.enabled': bool('Send mail.'),
  'email.smtp.host': text(253, 'SMTP host.'),
  'email.smtp.port': int(1, 65_535, 'SMTP port.'),
  'email.smtp.security': oneOf(['tls', 'starttls', 'none'], 'How the connection is secured.'),
  'email.smtp.username': text(200, 'SMTP user.'),
  'email.smtp.password': secret('SMTP password.'),
  'email.smtp.allowUntrusted': bool('Accept any certificate.'),
  'email.from': text(320, 'Sender.'),
  'email.replyTo': text(320, 'Address for replies.'),
  'email.perHour': int(1, 100_000, 'Maximum mails per hour.'),
  'email.digest.enabled': bool('Send the weekly digest.'),
  'email.digest.day': oneOf(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], 'Day of the digest.'),
  'email.digest.hour': int(0, 23, 'Hour of the digest.'),
  'push.enabled': bool('Web push.'),
};

/** An audio-only quality has no height and no video. */
const rung = z.strictObject({
  id: z.string().max(40).describe('Id.'),
  label: z.string().max(60).describe('Name for people.'),
  height: z.int().min(0).max(4320).describe('Height, in pixels; 0 is sound alone.'),
  videoBitrate: z.int().min(0).describe('Bits a second of video.'),
  audioBitrate: z.int().min(16_000).describe('Bits a second of audio.'),
});

const playback = {
  'playback.maxStreams': int(1, 10_000, 'Maximum streams of the server.'),
  'playback.watchedPercent': int(50, 99, 'Progress from which a film counts as watched, in percent.'),
  'playback.ladder': z.array(rung).min(1).max(20).optional().describe('Qualities offered.'),
  'playback.defaults': anything('Preferences of a new account.'),
  'transcode.hardware': oneOf(['auto', 'nvenc', 'qsv', 'vaapi', 'off'], 'Encoder.'),
  'transcode.maxWorkers': int(0, 64, 'Maximum transcode workers.'),
  'transcode.cacheBytes': bytes('Maximum size of segments'),
  'downloads.keepDays': int(1, 365, 'Days that a download is kept.'),
  'downloads.maxPerAccount': int(0, 10_000, 'Maximum downloads of an account.'),
  'downloads.maxBytesPerAccount': bytes('Maximum size of the downloads of an account'),
  'downloads.cacheBytes': bytes('Maximum size of all downloads'),
  'cast.guests': bool('Guests may cast.'),
};

const libraries = {
  'analysis.preview_thumbnails': bool('Create preview pictures for the seek bar.'),
  'analysis.intro_detection': bool('Find intros.'),
  'analysis.credits_detection': bool('Find credits.'),
  'analysis.voice_activity': bool('Find speech.'),
  'analysis.fingerprints': oneOf(['now', 'window'], 'When fingerprints are made.'),
  'analysis.sonic': bool('Acoustic features of music.'),
  'search.transcripts': bool('Search transcripts of speech.'),
  'faces.enabled': bool('Find faces in photos.'),
  'faces.libraries': words(500, 'Ids of libraries in which faces are found.'),
  'faces.model': text(100, 'Face model.'),
  'faces.minFaces': int(2, 20, 'Minimum faces of a group.'),
  'faces.maxDistance': z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('Maximum distance between two faces of one person.'),
  'faces.visibleTo': oneOf(['admins', 'members', 'everyone'], 'Who can view groups of faces.'),
  'metadata.language': language().optional().describe('Language of metadata.'),
  'metadata.baseUrls': z
    .record(z.string().max(40), url())
    .optional()
    .describe('Address of a mirror or proxy by agent id, such as musicbrainz.'),
  'metadata.allowedNetworks': networks('Private networks that such mirrors may lie in.'),
  'artwork.cacheBytes': bytes('Maximum size of the picture cache'),
  'photos.mapTiles': text(2048, 'Address of map tiles with {z}, {x}, {y}.'),
  'collections.autoMin': int(0, 20, 'Minimum films of a collection; 0 disables collections.'),
  'playlists.fromFiles': bool('Import playlist files next to media.'),
  'music.listenBrainz': bool('Send listens to ListenBrainz.'),
  'music.listenBrainzToken': secret('Token of ListenBrainz.'),
  'discover.enabled': bool('Discover.'),
  'spine.auto': bool('Load new identity packs automatically.'),
  'spine.url': address('Where identity packs are found.'),
  'spine.trustedKeys': words(10, 'Keys whose packs are trusted.'),
  'storages.personal': bool('Members may connect their own drives.'),
  'storages.personalHosts': words(50, 'Private hosts that members may connect.'),
  'scan.concurrent': int(1, 16, 'Scans at once.'),
  'uploads.maxFileBytes': bytes('Largest upload'),
  'games.savesBytesPerAccount': bytes('Maximum size of the saves of an account'),
};

const subtitles = {
  'subtitles.dailyAllowance': int(0, 1000, 'Daily uses of the subtitle tools per account.'),
  'subtitles.model': text(100, 'Speech model.'),
  'subtitles.place': oneOf(['server', 'beside'], 'Where fetched subtitles are kept.'),
  'subtitles.providers': words(50, 'Providers in their order.'),
  'subtitles.folder.storageId': text(64, 'Storage of the folder provider.'),
  'subtitles.folder.path': text(4096, 'Path of the folder provider.'),
  'subtitles.opensubtitles.baseUrl': address('Address of the service.'),
  'subtitles.tools.find': oneOf(['admins', 'everyone'], 'Who may search.'),
  'subtitles.tools.sync': oneOf(['admins', 'everyone'], 'Who may correct timing.'),
  'subtitles.tools.generate': oneOf(['admins', 'everyone'], 'Who may generate subtitles.'),
};

const live = {
  'live.bufferMinutes': int(0, 360, 'Length of the rewind buffer, in minutes.'),
  'live.bufferBytes': bytes('Maximum size of buffers'),
  'live.releaseSec': int(0, 600, 'Seconds until an unused tuner is released.'),
  'live.allowedNetworks': networks('Networks that tuners and guides may be in.'),
  'dvr.libraryId': text(64, 'Library that recordings go to.'),
  'dvr.startPadMs': int(0, 3_600_000, 'Recorded before the start, in milliseconds.'),
  'dvr.endPadMs': int(0, 10_800_000, 'Recorded after the end, in milliseconds.'),
  'dvr.quotaBytes': bytes('Maximum size of recordings'),
  'dvr.keepFreeBytes': bytes('Space that recordings leave free'),
  'dvr.viewersYield': bool('Recordings have priority over viewers.'),
  'dvr.detectCommercials': bool('Mark advertising breaks.'),
};

const queues = ['scan', 'added', 'analysis', 'metadata', 'interactive', 'artwork', 'maintenance', 'media', 'speech'];
const concurrency = Object.fromEntries(
  [...queues, 'delivery', 'live'].map((queue) => [`jobs.concurrency.${queue}`, int(0, 64, 'Jobs at once.')]),
);

const operation = {
  'webhooks.allowedNetworks': networks('Private networks that webhooks may call.'),
  'plugins.allowedNetworks': networks('Private networks that plugins may call.'),
  'plugins.catalogues': setOf(z.string().min(1).max(2048), 10).optional().describe('Catalogues of plugins.'),
  'plugins.trustedKeys': words(20, 'Keys whose plugins are trusted.'),
  'imports.allowedNetworks': networks('Networks that imports may call.'),
  'backup.includeFaces': bool('Include faces in backups.'),
  'backup.requireEncryption': oneOf(['outside', 'always', 'never'], 'Which backups must be encrypted.'),
  'stats.keepDays': int(0, 36_500, 'Days that history is kept; 0 keeps it forever.'),
  'stats.adminsSeeHistory': bool('Admins see the history of others.'),
  'support.keepDays': int(1, 3650, 'Days that bug reports are kept.'),
};

export const Settings = z.strictObject({
  ...server,
  ...network,
  ...auth,
  ...mail,
  ...playback,
  ...libraries,
  ...subtitles,
  ...live,
  ...concurrency,
  ...operation,
});
