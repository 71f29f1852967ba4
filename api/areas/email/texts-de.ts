import type { MailLanguage } from './texts.ts';

export const german: MailLanguage = {
  tag: 'de',
  own: {
    invitation: {
      subject: '{inviter} lädt dich zu {server} ein',
      lines: [
        '{inviter} lädt dich ein, auf {server} zu sehen, zu hören und zu lesen.',
        '{message}',
        'Der Link gilt bis {until}.',
      ],
      button: 'Einladung annehmen',
    },
    'password-reset': {
      subject: 'Neues Passwort für {server}',
      lines: [
        'Jemand, wahrscheinlich du, möchte ein neues Passwort für das Konto {name}.',
        'Der Link gilt einmal, bis {until}. Wenn du es nicht warst, ist nichts zu tun.',
      ],
      button: 'Neues Passwort setzen',
    },
    'oidc-only': {
      subject: 'Dein Konto auf {server} hat kein Passwort',
      lines: [
        'Das Konto {name} meldet sich über einen anderen Anbieter an; hier gibt es kein Passwort, das neu gesetzt werden könnte.',
      ],
    },
    'password-set': {
      subject: 'Dein Konto auf {server}',
      lines: [
        '{inviter} hat auf {server} das Konto {name} für dich angelegt.',
        'Wähle ein Passwort; der Link gilt einmal, bis {until}.',
      ],
      button: 'Passwort wählen',
    },
    'address-confirm': {
      subject: 'Bestätige diese Adresse für {server}',
      lines: [
        'Das Konto {name} auf {server} nennt diese Adresse als seine.',
        'Der Link gilt einmal, bis {until}. Wenn es nicht deines ist, ist nichts zu tun.',
      ],
      button: 'Adresse bestätigen',
    },
    'address-changed': {
      subject: 'Die Adresse deines Kontos auf {server} wurde geändert',
      lines: [
        'Das Konto {name} bekommt seine Post jetzt an {address} und nicht mehr an diese Adresse.',
        'Wenn du es nicht warst, wende dich an die Betreiber des Servers.',
      ],
    },
    test: { subject: 'Test von {server}', lines: ['Post von {server} kommt an.'] },
  },
  open: 'Öffnen',
  footer: 'Gesendet von {server}.',
  unsubscribe: 'Keine Post dieser Art mehr',
  digest: {
    subject: 'Die Woche auf {server}',
    added: 'Neu',
    goOn: 'Weiter mit',
    kept: 'Was geschah',
    titles: (count) => (count === 1 ? 'Ein Titel' : `${count} Titel`),
    more: (count) => `und ${count} weitere`,
  },
};
