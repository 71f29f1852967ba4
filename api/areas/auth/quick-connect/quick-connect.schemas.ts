import { z } from 'zod';
import { Id, Timestamp } from '#kernel/schemas.ts';
import { Keep, SignIn } from '../auth.schemas.ts';

/** Without letters that look alike: 0 1 I L O. */
export const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
export const CODE_LENGTH = 6;
export const POLL_MS = 2000;

export const QuickConnect = z
  .object({
    code: z.string().describe('Shown on the device that signs in').meta({ example: '482915' }),
    state: z.enum(['pending', 'approved', 'denied']),
    device: z.object({
      name: z.string().meta({ example: 'Films' }),
      clientName: z.string().nullable().meta({ example: 'Living room' }),
      platform: z.string().nullable().meta({ example: 'Android TV' }),
      address: z.string().meta({ example: '192.0.2.17' }),
    }),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  })
  .meta({ id: 'QuickConnect' });
export type QuickConnect = z.output<typeof QuickConnect>;

export const StartQuickConnect = z.strictObject({
  deviceName: z.string().trim().min(1).max(60).optional().meta({ example: 'Living room' }),
});
export const StartedQuickConnect = z.object({
  quickConnect: QuickConnect,
  secret: z
    .string()
    .optional()
    .describe('For the device that signs in only; the code alone does not sign in')
    .meta({ example: 'JBSWY3DPEHPK3PXP' }),
  pollMs: z.int(),
  url: z.string().describe('Page on which to approve').meta({ example: 'https://hooks.example/foyer' }),
  qrSvg: z
    .string()
    .describe('The page as a picture to scan: an SVG document')
    .meta({ example: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
});

export const RedeemQuickConnect = z.strictObject({
  secret: z.string().min(1).max(100).meta({ example: 'JBSWY3DPEHPK3PXP' }),
  keep: Keep.default('both'),
  remember: z.boolean().default(true),
});
export const RedeemedQuickConnect = z.object({
  state: QuickConnect.shape.state,
  signIn: SignIn.optional().describe('Once'),
  pollMs: z.int(),
});

export const CodeParams = z.object({
  code: z
    .string()
    .regex(/^[A-Za-z0-9 -]{1,40}$/)
    .meta({ example: '482915' }),
});
export const QuickConnectView = QuickConnect.extend({ sameNetwork: z.boolean() }).meta({ id: 'SeenQuickConnect' });
export const AnswerQuickConnect = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  profileId: Id.optional().describe('Of the own account; absent is the profile of this session'),
  userId: Id.optional().describe('An account of role child or guest, with user:manage'),
});
