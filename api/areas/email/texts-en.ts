import type { MailLanguage } from './texts.ts';

export const english: MailLanguage = {
  tag: 'en',
  own: {
    invitation: {
      subject: '{inviter} invites you to {server}',
      lines: [
        '{inviter} invites you to watch, listen and read on {server}.',
        '{message}',
        'The link works until {until}.',
      ],
      button: 'Accept the invitation',
    },
    'password-reset': {
      subject: 'Set a new password for {server}',
      lines: [
        'Somebody, most likely you, asked for a new password of the account {name}.',
        'The link works once, until {until}. If it was not you, there is nothing to do.',
      ],
      button: 'Set a new password',
    },
    'oidc-only': {
      subject: 'Your account on {server} has no password',
      lines: ['The account {name} signs in by another provider, so there is no password here that could be set anew.'],
    },
    'password-set': {
      subject: 'Your account on {server}',
      lines: [
        '{inviter} made the account {name} for you on {server}.',
        'Choose a password; the link works once, until {until}.',
      ],
      button: 'Choose a password',
    },
    'address-confirm': {
      subject: 'Confirm this address for {server}',
      lines: [
        'The account {name} on {server} names this address as its own.',
        'The link works once, until {until}. If it is not yours, there is nothing to do.',
      ],
      button: 'Confirm the address',
    },
    'address-changed': {
      subject: 'The address of your account on {server} changed',
      lines: [
        'The account {name} now gets its mail at {address}, and no more at this address.',
        'If it was not you, tell those who run the server.',
      ],
    },
    test: { subject: 'Test from {server}', lines: ['Mail from {server} arrives.'] },
  },
  open: 'Open',
  footer: 'Sent by {server}.',
  unsubscribe: 'No more mails of this kind',
  digest: {
    subject: 'The week on {server}',
    added: 'New',
    goOn: 'Go on with',
    kept: 'What happened',
    titles: (count) => (count === 1 ? 'One title' : `${count} titles`),
    more: (count) => `and ${count} more`,
  },
};
