import type { Permission } from '#identity/permissions.ts';

export const levels = ['info', 'success', 'warning', 'urgent'] as const;
export type Level = (typeof levels)[number];

export interface Kind {
  /** Only accounts with this permission get it; absent is everyone. */
  permission?: Permission;
  level: Level;
  /** Push is on by default. */
  push?: true;
  email?: true;
  /** It cannot be turned off in the app. */
  fixed?: true;
  /** Notifications within this time are merged; ten minutes when absent. */
  mergeMs?: number;
}

const DAY_MS = 86_400_000;
export const MERGE_MS = 600_000;

/** All kinds of notifications. */
export const kinds = {
  'upload-finished': { level: 'success', push: true },
  'download-ready': { level: 'success', push: true },
  'download-failed': { level: 'warning', push: true },
  'subtitle-ready': { level: 'success', push: true },
  'subtitle-failed': { level: 'warning', push: true },
  'watchlist-available': { level: 'info' },
  'watchlist-leaving': { level: 'info' },
  'person-new-items': { level: 'info', mergeMs: DAY_MS },
  'new-episode': { level: 'info', mergeMs: DAY_MS },
  'course-reminder': { level: 'info' },
  'course-completed': { level: 'success' },
  'live-reminder': { level: 'urgent', push: true },
  'live-yielding': { level: 'warning' },
  'recording-finished': { level: 'success', push: true },
  'recording-failed': { level: 'warning', push: true },
  'recording-conflict': { level: 'warning', push: true },
  'room-invite': { level: 'urgent', push: true },
  'library-granted': { level: 'info' },
  'playlist-shared': { level: 'info' },
  'collection-shared': { level: 'info' },
  'session-ended': { level: 'warning' },
  'friend-request': { level: 'info' },
  'friend-accepted': { level: 'info' },
  'review-removed': { level: 'warning' },
  'bug-answered': { level: 'info', push: true },
  'sign-in-new-device': { level: 'urgent', email: true, fixed: true },
  'methods-changed': { level: 'urgent', email: true, fixed: true },
  'api-key-changed': { level: 'warning', email: true, fixed: true },
  'ownership-offer': { level: 'urgent', email: true, fixed: true },
  'import-linked': { level: 'info' },
  'export-ready': { level: 'success', push: true, email: true, fixed: true },
  'storage-unavailable': { permission: 'library:manage', level: 'urgent', push: true },
  'storage-available': { permission: 'library:manage', level: 'success' },
  'scan-failed': { permission: 'scan:trigger', level: 'warning' },
  'scan-guard': { permission: 'library:manage', level: 'warning' },
  'tuner-failing': { permission: 'settings:manage', level: 'warning' },
  'guide-failing': { permission: 'settings:manage', level: 'warning' },
  'disk-low': { permission: 'settings:manage', level: 'urgent' },
  'check-failed': { permission: 'settings:manage', level: 'warning' },
  'check-recovered': { permission: 'settings:manage', level: 'success' },
  'certificate-expiring': { permission: 'settings:manage', level: 'warning' },
  'backup-failed': { permission: 'settings:manage', level: 'urgent' },
  'backup-finished': { permission: 'settings:manage', level: 'success' },
  'import-finished': { permission: 'settings:manage', level: 'success' },
  'job-failed': { permission: 'job:manage', level: 'warning' },
  'bug-reported': { permission: 'settings:manage', level: 'info' },
  'webhook-disabled': { permission: 'settings:manage', level: 'warning' },
  'email-failing': { permission: 'settings:manage', level: 'warning' },
  'invite-accepted': { permission: 'user:manage', level: 'info' },
  'child-request': { permission: 'user:manage', level: 'info', fixed: true },
  'plugin-error': { permission: 'settings:manage', level: 'warning' },
  'update-available': { permission: 'settings:manage', level: 'info' },
  'plus-ending': { permission: 'settings:manage', level: 'warning' },
  'ownership-changed': { permission: 'user:manage', level: 'urgent' },
} as const satisfies Record<string, Kind>;

export type NotificationKind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as [NotificationKind, ...NotificationKind[]];
export const kindOf = (name: NotificationKind): Kind => kinds[name];

export interface Channels {
  inApp: boolean;
  push: boolean;
  email: 'off' | 'at-once' | 'digest';
}

export const defaultsOf = (name: NotificationKind): Channels => {
  const { push, email } = kindOf(name);
  return { inApp: true, push: push ?? false, email: email ? 'at-once' : 'off' };
};
