import { sha256 } from '#platform/keys.ts';

/** `a***@host`. */
export function masked(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}***${at < 0 ? '' : address.slice(at)}`;
}

/** One address in any letter case. */
export const addressHash = (address: string): string => sha256(address.toLowerCase());

/** Text for a header: one line, whatever it was made of. */
export const oneLine = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 200);

const MAILBOX = /^(?:([^<>]*)<)?([^\s<>@,;"]+@[^\s<>@,;"]+)>?$/;

/** `Name <a@b>` or `a@b`; undefined for what is neither, or for more than one line. */
export function mailbox(text: string): { name: string; address: string } | undefined {
  if (/\p{Cc}/u.test(text)) return undefined;
  const [, name = '', address] = MAILBOX.exec(text.trim()) ?? [];
  return address === undefined ? undefined : { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
