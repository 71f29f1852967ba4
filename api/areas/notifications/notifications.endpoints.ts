import { z } from 'zod';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { counts, MarkRead, Notification, NotificationsQuery, notificationSorts } from './notifications.schemas.ts';
import {
  languageOf,
  markRead,
  type NotificationRow,
  removeNotification,
  selectMatching,
  toNotification,
  unreadOf,
} from './notifications.store.ts';

export const listNotifications = defineEndpoint({
  operationId: 'listNotifications',
  method: 'get',
  path: '/notifications',
  summary: 'List the notifications of the caller',
  description:
    'Newest first, with the counts of unread and urgent ones; `limit=1` serves a badge. Texts are in the language of the profile. `since` takes a notification id or a time. Notifications about something that the caller can no longer see are left out.',
  access: { signedIn: true },
  query: NotificationsQuery,
  answer: page(Notification, counts),

  async handle({ query: { cursor, limit, sort, ...filter } }, { db, who, deps }) {
    const [language, unread] = await Promise.all([
      languageOf(db, who.profileId, deps.settings.get('server.language')),
      unreadOf(db, who),
    ]);
    const found = await pageOf<NotificationRow, Notification>(db, selectMatching(db, who, filter), {
      keys: deps.keys,
      terms: parseSort(sort, notificationSorts, '-createdAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listNotifications', who.profileId, filter]),
      idColumn: 'n.id',
      toItem: (row) => toNotification(row, language),
    });
    return { ...found, ...unread };
  },
});

export const markNotificationsRead = defineEndpoint({
  operationId: 'markNotificationsRead',
  method: 'put',
  path: '/notifications/read',
  summary: 'Mark notifications as read or unread',
  description:
    'Takes exactly one of `ids` and `upTo`; `upTo` names the newest notification to mark, so later ones stay unread. Unknown ids are ignored.',
  access: { signedIn: true },
  body: MarkRead,
  answer: json(200, z.object({ changed: z.int().min(0), unreadCount: z.int().min(0) })),

  async handle({ body }, { db, who }) {
    const changed = await markRead(db, who, body);
    return { changed, unreadCount: (await unreadOf(db, who)).unreadCount };
  },
});

export const deleteNotification = defineEndpoint({
  operationId: 'deleteNotification',
  method: 'delete',
  path: '/notifications/:id',
  summary: 'Delete a notification',
  description: 'A push message that was not sent yet is withdrawn. A notification of another profile is 404.',
  access: { signedIn: true },
  params: IdParams,
  answer: none(),

  async handle({ params }, { db, who }) {
    if (!(await removeNotification(db, who, params.id))) throw notFound();
  },
});
