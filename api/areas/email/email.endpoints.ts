import { audit } from '#kernel/audit.ts';
import { bytes, type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import { IdParams } from '#kernel/schemas.ts';
import { confirmAddress } from './confirm.ts';
import { preview } from './content/preview.ts';
import {
  ConfirmEmail,
  ConfirmedEmail,
  EmailMessage,
  EmailMessagesQuery,
  EmailStatus,
  emailSorts,
  PreviewQuery,
  TestEmail,
  TestEmailAnswer,
  Unsubscribed,
  UnsubscribeQuery,
} from './email.schemas.ts';
import {
  filtering,
  getMessage,
  type ListedRow,
  messageFilter,
  selectMessages,
  toMessage,
} from './messages/messages.view.ts';
import { retryMessage } from './messages/retry.ts';
import { readStatus } from './messages/status.view.ts';
import { sendTest } from './test-mail.ts';
import { endMails } from './unsubscribe.ts';

const access = { permission: 'settings:manage' } as const;
const TESTS_A_MINUTE = 5;
const TOKENS_A_MINUTE = 10;

async function limit({ deps }: Call, key: string, most: number): Promise<void> {
  await limitAttempts({ redis: deps.redis, replicas: deps.config.replicas }, key, most);
}

export const getEmailStatus = defineEndpoint({
  operationId: 'getEmailStatus',
  method: 'get',
  path: '/email',
  summary: 'Get the state of mail',
  description:
    'Returns whether mail is configured, the last error, a pause of sending, and the counts of the queue. User name and password of the mail server are never included.',
  access,
  answer: json(200, EmailStatus),

  async handle(_input, call) {
    return readStatus(call);
  },
});

export const sendTestEmail = defineEndpoint({
  operationId: 'sendTestEmail',
  method: 'post',
  path: '/email/test',
  summary: 'Send a test mail now',
  description:
    'Accepts settings that are not saved yet; without a password the saved one is used for the saved host only. A failure of the mail server is 200 with `ok` false, its stage and its response. Success ends a pause of sending. It is 409 `not-configured` without settings and 429 after five a minute.',
  access,
  body: TestEmail,
  optionalBody: true,
  answer: json(200, TestEmailAnswer),
  errors: ['CONFLICT', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    await limit(call, `email-test:${call.who.accountId}`, TESTS_A_MINUTE);
    return sendTest(call, body);
  },
});

export const listEmailMessages = defineEndpoint({
  operationId: 'listEmailMessages',
  method: 'get',
  path: '/email/messages',
  summary: 'List sent and pending mails',
  description:
    'Newest first unless `sort` is given. Bodies and links are never included, addresses are masked, and subjects of mails to accounts of a higher rank are left out.',
  access,
  query: EmailMessagesQuery.extend({ filter: messageFilter }),
  answer: page(EmailMessage),

  async handle({ query: { cursor, limit: most, sort, filter } }, { db, deps, who, now }) {
    return pageOf<ListedRow, EmailMessage>(db, selectMessages(db).modify(filtering(filter, now)), {
      keys: deps.keys,
      terms: parseSort(sort, emailSorts, '-createdAt'),
      cursor,
      limit: most,
      scope: JSON.stringify(['listEmailMessages', filter]),
      idColumn: 'm.id',
      toItem: (row) => toMessage(row, who),
    });
  },
});

export const retryEmailMessage = defineEndpoint({
  operationId: 'retryEmailMessage',
  method: 'post',
  path: '/email/messages/:id/retry',
  summary: 'Send a failed mail again',
  description:
    'For failed and suppressed mails whose body is kept, which is seven days; it also lifts the suppression of the address. It is 409 `not-retryable` in another state and 409 `expired` when the link in the mail has expired.',
  access,
  params: IdParams,
  answer: json(202, EmailMessage),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    const { db, who, now } = call;
    await retryMessage(db, params.id, now);
    await audit(call, 'email.retried', { messageId: params.id });
    return toMessage(await getMessage(db, params.id), who);
  },
});

export const previewEmail = defineEndpoint({
  operationId: 'previewEmail',
  method: 'get',
  path: '/email/preview',
  summary: 'Preview a kind of mail',
  description:
    'Sends nothing. `digest` and `notification` show what the caller would get now, other kinds a sample with dead links. `part` selects the HTML or the text alone.',
  access,
  query: PreviewQuery,
  answer: bytes('application/json', 'text/html', 'text/plain'),

  async handle({ query }, call) {
    return preview(call, query);
  },
});

export const confirmEmailAddress = defineEndpoint({
  operationId: 'confirmEmailAddress',
  method: 'post',
  path: '/email/confirm',
  summary: 'Confirm an email address with its token',
  description:
    'The token works once and for 48 hours; wrong, used and expired ones are the same 404. It is 409 `address-taken` when another account confirmed the address first. It does not sign in, and the former address is notified.',
  access: { anyone: true, because: 'the one-time token of the mail is the credential' },
  body: ConfirmEmail,
  answer: json(200, ConfirmedEmail),
  errors: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED'],

  counts: (call) => limit(call, `email-confirm:${addressGroup(call.client.address)}`, TOKENS_A_MINUTE),

  async handle({ body }, call) {
    return confirmAddress(call, body.token);
  },
});

export const unsubscribeEmail = defineEndpoint({
  operationId: 'unsubscribeEmail',
  method: 'post',
  path: '/email/unsubscribe',
  summary: 'Unsubscribe from a kind of mail',
  description:
    'The token of the mail is the credential and can be used any number of times. The body is empty or the form `List-Unsubscribe=One-Click` of RFC 8058; JSON is 400. A wrong or expired token is 404.',
  access: { anyone: true, because: 'the signed token of the mail is the credential, and it permits nothing else' },
  query: UnsubscribeQuery,
  answer: json(200, Unsubscribed),
  errors: ['NOT_FOUND'],

  async handle({ query }, { db, deps, now, headers }) {
    if (/json/i.test(headers['content-type'] ?? ''))
      throw invalid(['headers', 'content-type'], 'not_a_form', 'the body is a form or nothing');
    return endMails(db, { keys: deps.keys, now, token: query.token, kind: query.kind });
  },
});
