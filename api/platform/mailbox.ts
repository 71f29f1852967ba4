const MAILBOX = /^(?:([^<>]*)<)?([^\s<>@,;"]+@[^\s<>@,;"]+)>?$/;

/** `Name <a@b>` or `a@b`; undefined for anything else, or for more than one line. */
export function mailbox(text: string): { name: string; address: string } | undefined {
  if (/\p{Cc}/u.test(text)) return undefined;
  const [, name = '', address] = MAILBOX.exec(text.trim()) ?? [];
  return address === undefined ? undefined : { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}
