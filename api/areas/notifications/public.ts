export type { NotificationKind } from './kinds.ts';
export { kindNames, kindOf } from './kinds.ts';
export { type MailedNotice, mailNotices } from './mail-hook.ts';
export type { NotificationRow } from './notifications.store.ts';
export { BATCH, type Notice, notify, notifyProfiles, receiversOf } from './notify.ts';
export {
  channelsOf,
  heldUntil,
  noPreferences,
  type ProfilePreferences,
  preferencesOf,
  stillPreferred,
  switchMailOff,
} from './preferences.ts';
export { seers, takeServerZone } from './sight.ts';
export { languageFor, severalIn, textOf } from './texts.ts';
