import { defineArea } from '#kernel/endpoint.ts';
import { deleteNotification, listNotifications, markNotificationsRead } from './notifications.endpoints.ts';
import { getNotificationPreferences, setNotificationPreferences } from './preferences.endpoints.ts';
import { getPushSetup, subscribePush, unsubscribePush } from './push.endpoints.ts';

export const notificationsArea = defineArea('notifications', 'Notifications', [
  listNotifications,
  markNotificationsRead,
  deleteNotification,
  getNotificationPreferences,
  setNotificationPreferences,
  getPushSetup,
  subscribePush,
  unsubscribePush,
]);
