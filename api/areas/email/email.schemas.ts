import { z } from 'zod';
import { pageQuery } from '#kernel/page.ts';
import { Id, Language, ManagedBy, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';
import { settingTable } from '#platform/settings.ts';
import { mailbox } from './address.ts';
import { emailKinds, endable } from './kinds.ts';
import { stages, states } from './messages/messages.store.ts';

const Stage = z.enum(stages);
const Security = z.enum(['tls', 'starttls', 'none']);
export const EmailKind = z.enum(emailKinds).meta({ id: 'EmailKind' });

export const EmailStatus = z
  .object({
    configured: z.boolean().describe('A host and a sender are set'),
    enabled: z.boolean(),
    host: z.string().optional().meta({ example: 'mail.example' }),
    port: z.int().optional().meta({ example: 587 }),
    security: Security.optional(),
    from: z.string().optional(),
    replyTo: z.string().optional(),
    lastSentAt: Timestamp.optional(),
    lastError: z
      .object({
        at: Timestamp,
        stage: Stage,
        code: z.string().optional(),
        message: z.string().meta({ example: 'It did not answer in time' }),
      })
      .optional(),
    paused: z.boolean().describe('Sending is paused after 20 faults in a row'),
    pausedUntil: Timestamp.optional(),
    queue: z.object({ waiting: z.int(), delayed: z.int(), failed24h: z.int(), sent24h: z.int() }),
    suppressed: z.int().describe('Addresses that refused three mails in a row'),
    publicUrl: z.boolean(),
    managedBy: ManagedBy.optional(),
  })
  .meta({ id: 'EmailStatus' });
export type EmailStatus = z.output<typeof EmailStatus>;

export const EmailMessage = z
  .object({
    id: Id,
    kind: EmailKind,
    to: z.string().describe('a***@host').meta({ example: 'a***@media.example' }),
    userId: Id.optional(),
    language: z.string().meta({ example: 'en' }),
    subject: z
      .string()
      .optional()
      .describe('Left out for accounts that are not below the caller')
      .meta({ example: 'A new film in Films' }),
    state: z.enum(states),
    attempts: z.int().min(0).max(6),
    messageId: z.string().optional(),
    error: z
      .object({
        stage: Stage,
        code: z.string().optional(),
        message: z.string().meta({ example: 'It did not answer in time' }),
      })
      .optional(),
    createdAt: Timestamp,
    sentAt: Timestamp.optional(),
    nextAttemptAt: Timestamp.optional(),
  })
  .meta({ id: 'EmailMessage' });
export type EmailMessage = z.output<typeof EmailMessage>;

export const emailSorts: SortTable = {
  createdAt: { column: 'm.created_at', type: 'timestamptz' },
  sentAt: { column: 'm.sent_at', type: 'timestamptz', nullable: true },
};

export const EmailMessagesQuery = z.object({
  ...pageQuery,
  sort: sortQuery(emailSorts),
});

const oneLiner = (text: string): boolean => !/\p{Cc}/u.test(text);
const NOT_ONE_LINE = { error: 'one line', params: { code: 'control_character' } };
const Host = z.string().trim().min(1).max(253).refine(oneLiner, NOT_ONE_LINE);

/** Unsaved settings; absent ones have their saved values. */
export const UnsavedSettings = z.strictObject({
  'email.smtp.host': Host.optional(),
  'email.smtp.port': settingTable['email.smtp.port'].schema.unwrap().optional(),
  'email.smtp.security': settingTable['email.smtp.security'].schema.unwrap().optional(),
  'email.smtp.username': settingTable['email.smtp.username'].schema.unwrap().optional(),
  'email.smtp.password': settingTable['email.smtp.password'].schema.unwrap().optional(),
  'email.smtp.allowUntrusted': settingTable['email.smtp.allowUntrusted'].schema.unwrap().optional(),
  'email.from': z
    .string()
    .trim()
    .max(320)
    .refine((text) => mailbox(text) !== undefined, { error: 'an address', params: { code: 'invalid_address' } })
    .optional(),
});
export type UnsavedSettings = z.input<typeof UnsavedSettings>;

const Address = z.string().trim().max(254).pipe(z.email());

export const TestEmail = z.strictObject({
  to: Address.optional().describe('The own address when absent').meta({ example: 'ada@media.example' }),
  settings: UnsavedSettings.optional(),
});

export const TestEmailAnswer = z.object({
  ok: z.boolean(),
  stage: Stage.optional(),
  code: z.string().optional(),
  response: z.string().optional().describe("The server's line"),
  transcript: z.array(
    z.object({
      atMs: z.int(),
      stage: z.string().meta({ example: 'sent' }),
      line: z.string().meta({ example: '250 2.0.0 Ok: queued' }),
    }),
  ),
  tookMs: z.int(),
});
export type TestEmailAnswer = z.output<typeof TestEmailAnswer>;

export const PreviewQuery = z.object({
  kind: EmailKind,
  language: Language.optional().meta({ example: 'en' }),
  part: z.enum(['html', 'text', 'json']).default('json'),
});

export const ConfirmEmail = z.strictObject({
  token: z.string().min(1).max(200).meta({ example: 'em_Zm95ZXItbWFpbA' }),
});
export const ConfirmedEmail = z.object({
  address: z.string().meta({ example: '192.0.2.17' }),
  displayName: z.string().meta({ example: 'Ada' }),
});

export const UnsubscribeQuery = z.object({
  token: z.string().min(1).max(500),
  kind: z.enum([...endable, 'all']).optional(),
});
export const Unsubscribed = z.object({
  kinds: z.array(z.enum(endable)).describe('Now off'),
  address: z.string().describe('Masked').meta({ example: '192.0.2.17' }),
});
