import { z } from 'zod';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import {
  counts,
  MarkRead,
  Notification,
  NotificationsQuery,
  notificationSorts,
  type NotificationsQuery as Query,
} from './notifications.schemas.ts';
import {
  languageOf,
  markRead,
  type NotificationRow,
  removeNotification,
  selectVisible,
  toNotification,
  unreadOf,
} from './notifications.store.ts';

export const listNotifications = defineEndpoint({
  operationId: 'listNotifications',
  method: 'get',
  path: '/notifications',
  summary: 'List own notifications; with limit 1 it is the badge',
  access: { signedIn: true },
  query: NotificationsQuery,
  answer: page(Notification, counts),

  async handle({ query }, call) {
    const { db, who, deps } = call;
    const { cursor, limit, sort, ...filter } = query;
    const [language, unread] = await Promise.all([
      languageOf(db, who.profileId, deps.settings.get('server.language')),
      unreadOf(db, who),
    ]);
    const found = await pageOf<NotificationRow, Notification>(db, wanted(call, filter), {
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

function wanted({ db, who }: Call, { unread, kind, since }: Pick<Query, 'unread' | 'kind' | 'since'>) {
  return selectVisible(db, who).modify((query) => {
    if (unread !== undefined) query.whereRaw(`n.read_at is ${unread ? '' : 'not '}null`);
    if (kind) query.whereIn('n.kind', kind);
    if (since === undefined) return;
    if (since.includes(':')) query.where('n.created_at', '>', since);
    else query.where('n.id', '>', since); // ids sort by the time they were made, also one that is gone
  });
}

export const markNotificationsRead = defineEndpoint({
  operationId: 'markNotificationsRead',
  method: 'put',
  path: '/notifications/read',
  summary: 'Mark own notifications read or unread',
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
  summary: 'Delete an own notification; a push that was not sent yet is withdrawn',
  access: { signedIn: true },
  params: IdParams,
  answer: none(),

  async handle({ params }, { db, who }) {
    if (!(await removeNotification(db, who, params.id))) throw notFound();
  },
});
