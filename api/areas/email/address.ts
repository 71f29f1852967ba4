import { sha256 } from '#platform/keys.ts';

export { mailbox } from '#platform/mailbox.ts';

/** The masked address, `a***@host`. */
export function masked(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}***${at < 0 ? '' : address.slice(at)}`;
}

/** The response of a server with the address masked, which it may repeat in any letter case. */
export function withMasked(text: string, address: string): string {
  const found = new RegExp(address.replace(/[^\w@]/g, '\\$&'), 'gi');
  return text.replace(found, () => masked(address));
}

/** Hash of an address, the same in any letter case. */
export const addressHash = (address: string): string => sha256(address.toLowerCase());

/** Text for a header, without line breaks. */
export const oneLine = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 200);

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
