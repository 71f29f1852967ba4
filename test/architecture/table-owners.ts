import type { TableName } from '#platform/typed-query.ts';

/** The room that writes each table: an area with its workers and its part of the platform, or `kernel`, `identity`, `platform`. */
export const owners: Record<TableName, string> = {
  accounts: 'accounts',
  api_keys: 'api-keys',
  artwork_choices: 'artwork',
  artwork_pending: 'artwork',
  audit_log: 'kernel',
  backup_hashes: 'backup',
  backup_places: 'backup',
  backup_settings: 'backup',
  backups: 'backup',
  branding: 'branding',
  branding_logos: 'branding',
  catalogue_answers: 'platform',
  catalogue_keys: 'platform',
  chapters: 'libraries',
  credits: 'libraries',
  device_keys: 'identity',
  devices: 'identity',
  email_confirmations: 'email',
  email_digests: 'email',
  email_messages: 'email',
  email_state: 'email',
  email_suppressions: 'email',
  events: 'platform',
  idempotency_keys: 'kernel',
  ignored_files: 'libraries',
  image_variants: 'artwork',
  images: 'artwork',
  invite_uses: 'users',
  invites: 'users',
  item_edits: 'libraries',
  item_labels: 'labels',
  item_layers: 'libraries',
  item_merges: 'libraries',
  item_neighbours: 'items',
  item_states: 'playback',
  item_tags: 'libraries',
  item_tombstones: 'libraries',
  items: 'libraries',
  job_attempts: 'jobs',
  job_counts: 'jobs',
  jobs: 'jobs',
  label_principals: 'labels',
  labels: 'labels',
  libraries: 'libraries',
  library_access: 'accounts',
  library_folders: 'libraries',
  library_removals: 'libraries',
  markers: 'libraries',
  media_files: 'libraries',
  media_streams: 'libraries',
  notification_counts: 'notifications',
  notification_preferences: 'notifications',
  notifications: 'notifications',
  notifications_gone: 'notifications',
  oidc_flows: 'auth',
  oidc_logouts: 'auth',
  outbox: 'platform',
  ownership_history: 'server-account',
  ownership_offers: 'server-account',
  passkey_challenges: 'auth',
  password_resets: 'auth',
  people: 'libraries',
  play_history: 'playback',
  playback_sessions: 'viewing',
  playback_synced: 'playback',
  plus_licence: 'plus',
  preroll_clips: 'streaming',
  profiles: 'accounts',
  push_messages: 'notifications',
  push_subscriptions: 'notifications',
  quick_connects: 'auth',
  recovery_codes: 'auth',
  refresh_tokens: 'auth',
  rights_told: 'identity',
  scan_directories: 'scanning',
  scan_faults: 'scanning',
  scan_issues: 'scanning',
  scans: 'scanning',
  server_state: 'platform',
  sessions: 'auth',
  setting_changes: 'settings',
  settings: 'settings',
  sign_in_challenges: 'auth',
  sign_in_methods: 'auth',
  storages: 'storage',
  theme_default: 'themes',
  theme_selections: 'themes',
  themes: 'themes',
  totp_setups: 'auth',
  track_choices: 'playback',
  transcode_sessions: 'streaming',
  trickplay: 'streaming',
  webhook_deliveries: 'webhooks',
  webhooks: 'webhooks',
};

/** Files outside of `api/areas` that belong to the room of an area, by the beginning of their paths. */
const parts: readonly (readonly [start: string, ...rooms: string[]])[] = [
  ['api/kernel/images.ts', 'artwork'],
  ['api/identity/plus.ts', 'plus'],
  ['api/identity/key-uses.ts', 'api-keys'],
  ['api/platform/queue.ts', 'jobs'],
  ['api/platform/settings.ts', 'settings'],
  ['workers/run-job.ts', 'jobs'],
  ['workers/attempts.ts', 'jobs'],
  ['workers/scan/', 'scanning', 'libraries'],
  ['workers/media-keyframes.ts', 'libraries'],
  ['workers/library-jobs.ts', 'libraries'],
  ['workers/backup/', 'backup'],
  ['workers/restore/', 'backup'],
  ['workers/artwork/', 'artwork'],
  ['workers/notifications/', 'notifications'],
  ['workers/email/', 'email'],
  ['workers/webhooks/', 'webhooks'],
  ['workers/playback-sweeper.ts', 'viewing'],
  ['workers/transcode/', 'streaming'],
];

/** The rooms that a source file belongs to: the scan is the worker of two. */
export function roomsOf(file: string): readonly string[] {
  const part = parts.find(([start]) => file.startsWith(start));
  if (part) return part.slice(1);
  const [top = '', second = '', third = ''] = file.split('/');
  if (second === 'areas') return [third];
  return [top === 'api' ? second : file];
}

/** Writes to a table of another room, by file and table, each with its reason. */
export const exceptions: Readonly<Record<string, { tables: readonly TableName[]; because: string }>> = {
  'workers/upkeep-jobs.ts': {
    tables: [
      ...([
        'audit_log',
        'devices',
        'events',
        'idempotency_keys',
        'jobs',
        'playback_sessions',
        'playback_synced',
      ] as const),
      ...(['refresh_tokens', 'rights_told', 'sessions', 'setting_changes', 'transcode_sessions'] as const),
    ],
    because: 'deletes rows past their retention, by one table of rules',
  },
  'workers/restore/record.ts': {
    tables: ['jobs'],
    because: 'runs on a connection of its own while all others wait for the restored database',
  },
  'api/areas/backup/restore/restores.store.ts': {
    tables: ['jobs'],
    because: 'the job of a restore is not run by the queue, which the restore exchanges',
  },
  'api/areas/auth/profiles/delete-profile.ts': {
    tables: ['api_keys', 'push_subscriptions', 'label_principals', 'theme_selections'],
    because: 'the row of a deleted profile stays until its states are purged, so no foreign key ends these',
  },
  'api/areas/artwork/choosing.store.ts': {
    tables: ['items', 'libraries'],
    because: 'lists read the chosen pictures from the row of the item, so they change in the same transaction',
  },
  'api/areas/artwork/portraits/portraits.store.ts': {
    tables: ['people'],
    because: 'credits read the portrait from the row of the person',
  },
  'api/areas/scanning/scans.store.ts': {
    tables: ['media_files'],
    because: 'an answer to the guard of a scan clears the marks that the scan left on files',
  },
  'api/identity/devices.ts': {
    tables: ['accounts', 'sessions'],
    because: 'records the last use of device, session and account in one statement, off the path of the request',
  },
};

/** Files that write to tables which only the running program knows, each with its reason. */
export const dynamic: Readonly<Record<string, string>> = {
  'workers/resealing.ts': 'columns of every room, by the list of sealed columns',
  'workers/scan/store/adopt.ts': 'tables of the scan that name a library next to an item, by a list of them',
  'workers/restore/': 'the tables of a backup, into a schema next to the one in use',
};
