import type { SendMailOptions } from 'nodemailer';
import type { MessageRow } from '#areas/email/messages/messages.store.ts';
import {
  CIDS,
  type Content,
  isEndable,
  mailbox,
  type mailLogos,
  oneLine,
  render,
  type Smtp,
} from '#areas/email/public.ts';
import { withoutTail } from '#platform/text.ts';

export interface Posting {
  row: Pick<MessageRow, 'kind' | 'address' | 'message_id' | 'created_at'>;
  smtp: Smtp;
  content: Content;
  logos: Awaited<ReturnType<typeof mailLogos>>;
  /** `server.publicUrl`, for the unsubscribe address of this kind of mail. */
  origin: string | null;
}

/** The same mail for the same row, whichever process sends it. */
export function envelopeOf({ row, smtp, content, logos, origin }: Posting): SendMailOptions {
  const { subject, html, text } = render(content, logos && CIDS);
  const from = mailbox(smtp.from) ?? { name: '', address: smtp.from };
  const replyTo = smtp.replyTo === null ? undefined : mailbox(smtp.replyTo);
  return {
    from: { name: oneLine(from.name || content.server), address: from.address },
    to: { name: '', address: row.address },
    ...(replyTo && { replyTo }),
    ...{ subject, html, text, messageId: row.message_id, date: row.created_at },
    headers: { 'Auto-Submitted': 'auto-generated', ...(isEndable(row.kind) && endingHeaders(content, origin)) },
    attachments: logos ? [inline(CIDS.light, logos.light), inline(CIDS.dark, logos.dark)] : [],
  };
}

/** Headers of RFC 8058. */
function endingHeaders({ unsubscribe }: Content, origin: string | null): Record<string, string> {
  const token = unsubscribe?.url.split('#token=')[1];
  if (token === undefined || origin === null) return {};
  return {
    'List-Unsubscribe': `<${withoutTail(origin, '/')}/api/v1/email/unsubscribe?token=${token}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

const inline = (cid: string, png: Buffer) => ({
  cid: cid.slice('cid:'.length),
  filename: 'logo.png',
  content: png,
  contentType: 'image/png',
  contentDisposition: 'inline' as const,
});
