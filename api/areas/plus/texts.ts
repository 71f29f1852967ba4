import type { PlusFeature } from '#kernel/licence.ts';

interface Text {
  title: string;
  description: string;
  keptOnLapse: string;
}
type Texts = Record<PlusFeature, Text>;

const english: Texts = {
  dvr: {
    title: 'Recording',
    description: 'Records programmes and series from live television.',
    keptOnLapse: 'Recordings under way finish; what was recorded stays.',
  },
  downloads: {
    title: 'Downloads',
    description: 'Prepares copies that are watched without a connection.',
    keptOnLapse: 'Copies that are ready can still be fetched; those that wait go on after a new licence.',
  },
  'watch-together': {
    title: 'Watch together',
    description: 'Rooms in which people in different places watch the same thing.',
    keptOnLapse: 'Rooms that are open stay open.',
  },
  sonic: {
    title: 'Sonic analysis',
    description: 'Finds music that sounds alike, and makes mixes of it.',
    keptOnLapse: 'What was analysed stays and can be read.',
  },
  'remote-backup': {
    title: 'Remote backup',
    description: 'Keeps backups in another place.',
    keptOnLapse: 'Backups made before stay, and can be restored.',
  },
};

const german: Texts = {
  dvr: {
    title: 'Aufnehmen',
    description: 'Nimmt Sendungen und Serien aus dem Fernsehprogramm auf.',
    keptOnLapse: 'Laufende Aufnahmen werden fertig; was aufgenommen wurde, bleibt.',
  },
  downloads: {
    title: 'Downloads',
    description: 'Bereitet Kopien vor, die ohne Verbindung laufen.',
    keptOnLapse: 'Fertige Kopien können weiter geholt werden; wartende gehen mit einer neuen Lizenz weiter.',
  },
  'watch-together': {
    title: 'Zusammen sehen',
    description: 'Räume, in denen Menschen an verschiedenen Orten dasselbe sehen.',
    keptOnLapse: 'Offene Räume bleiben offen.',
  },
  sonic: {
    title: 'Klanganalyse',
    description: 'Findet Musik, die ähnlich klingt, und macht Mischungen daraus.',
    keptOnLapse: 'Was untersucht wurde, bleibt und kann gelesen werden.',
  },
  'remote-backup': {
    title: 'Auswärtige Sicherung',
    description: 'Bewahrt Sicherungen an einem anderen Ort auf.',
    keptOnLapse: 'Frühere Sicherungen bleiben und können zurückgespielt werden.',
  },
};

/** By a BCP 47 tag; English where there is no other. */
export const textsIn = (tag: string): Texts => (tag.toLowerCase().split('-')[0] === 'de' ? german : english);
