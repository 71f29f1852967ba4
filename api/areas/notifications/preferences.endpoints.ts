import type { z } from 'zod';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { defaultsOf, kindNames, kindOf, type NotificationKind } from './kinds.ts';
import { NotificationPreferences, Preferences, PreferencesForm } from './notifications.schemas.ts';
import { languageOf } from './notifications.store.ts';
import { channelsOf, noPreferences, preferencesOf, storePreferences } from './preferences.ts';
import { unavailable } from './push.store.ts';
import { kindsWithheld } from './sight.ts';
import { languageFor, textOf } from './texts.ts';

const MOST_BYTES = 64 * 1024;

export const getNotificationPreferences = defineEndpoint({
  operationId: 'getNotificationPreferences',
  method: 'get',
  path: '/notifications/preferences',
  summary: 'Get the notification preferences of the caller',
  description:
    'Returns every kind that the caller can get, with its title, its description and the channels that are fixed, and whether push and email are available.',
  access: { signedIn: true },
  answer: json(200, PreferencesForm),

  async handle(_input, call) {
    const { db, who, deps } = call;
    const language = languageFor(await languageOf(db, who.profileId, deps.settings.get('server.language')));
    const preferences = (await preferencesOf(db, [who.profileId])).get(who.profileId) ?? noPreferences;
    const { defaults: _none, ...rest } = preferences;
    const form = obtainable(call).map((kind) => {
      const { title, body } = textOf({ kind, data: {}, count: 1 }, language, true);
      const fixed = { inApp: kindOf(kind).fixed ?? false, push: false, email: false };
      return [kind, { ...channelsOf(preferences, kind), title, description: body, fixed }] as const;
    });
    return {
      ...rest,
      kinds: Object.fromEntries(form),
      defaults: defaultsFor(call),
      available: { push: unavailable(deps) === undefined, email: deps.settings.get('email.enabled') },
    };
  },
});

export const setNotificationPreferences = defineEndpoint({
  operationId: 'setNotificationPreferences',
  method: 'put',
  path: '/notifications/preferences',
  summary: 'Replace the notification preferences of the caller',
  description:
    'The body is the whole document, at most 64 KiB; kinds that it does not name take the defaults. Unknown kinds and turning off a fixed channel are 400. It applies from the next notification, and to pending push messages and mails too.',
  access: { signedIn: true },
  body: Preferences,
  maxBodyBytes: MOST_BYTES,
  answer: json(200, NotificationPreferences),

  async handle({ body }, call) {
    const { defaults: _theirs, ...document } = body;
    await storePreferences(call.db, call.who.profileId, { document, at: call.now });
    return { ...document, defaults: defaultsFor(call) } satisfies z.input<typeof NotificationPreferences>;
  },
});

const obtainable = ({ who }: Call): NotificationKind[] => {
  const withheld = kindsWithheld(who);
  return kindNames.filter((kind) => !withheld.includes(kind));
};

const defaultsFor = (call: Call) => Object.fromEntries(obtainable(call).map((kind) => [kind, defaultsOf(kind)]));
