// The language of a text by its script and its most frequent words, for files whose name does not say it.

const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/[\p{sc=Hiragana}\p{sc=Katakana}]/gu, 'ja'],
  [/\p{sc=Hangul}/gu, 'ko'],
  [/\p{sc=Han}/gu, 'zh'],
  [/\p{sc=Thai}/gu, 'th'],
  [/\p{sc=Hebrew}/gu, 'he'],
  [/\p{sc=Arabic}/gu, 'ar'],
  [/\p{sc=Greek}/gu, 'el'],
];

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const COMMON: Readonly<Record<string, ReadonlySet<string>>> = {
  en: words('the and you that is it my to of are this have not we do your for was with'),
  de: words('ich du das ist nicht und sie die es wir der was mir mich ja ein zu auch haben'),
  fr: words('je vous pas que le tu est et il les un une pour mais dans des nous suis elle'),
  es: words('que no el es por qué una los para con yo está muy como bien esto pero las'),
  it: words('che non di è il per un sono ma mi ho cosa questo della lei perché bene tutto'),
  pt: words('que não você eu uma isso para com está meu mas bem tem ele foi vai isto muito'),
  nl: words('ik het een dat niet je van is wat hij zijn voor maar hebben wij mij naar zij'),
  sv: words('jag det är inte du och att som vi har för en på med vad han hon mig'),
  da: words('jeg det er ikke du og at har vi en til på med hvad han mig af hun'),
  no: words('jeg det er ikke du og å har vi en til på med hva han meg av hun'),
  fi: words('on ja ei se että en hän mitä minä sinä olen ole mutta kun niin oli tämä me'),
  pl: words('nie to się na jest że co tak jak mnie ale już dla tego mam tu czy ty'),
  cs: words('to je se na že co jsem ne tak jak mi jsi ale by už ho tady má'),
  hu: words('a nem az hogy egy és van is meg de ez mi csak kell vagy én azt itt'),
  ro: words('nu să și este ce un cu mai pe am că la te mă care dar sunt asta'),
  tr: words('bir bu ne ve ben için çok değil mi sen da evet var o ama hayır daha iyi'),
  ru: words('я не что в и ты это на как он мы с но вы у меня нет все'),
  uk: words('я не що в і ти це на як він ми з але ви у мене ні все є'),
  bg: words('не да се на и е за от съм ще ми че аз какво това няма си как'),
};

const SAMPLE = 40_000;

/** BCP 47; undefined for a text that is too short or looks like no known language. */
export function guessedLanguage(text: string): string | undefined {
  const sample = text.slice(0, SAMPLE).toLowerCase();
  const letters = countOf(sample, /\p{L}/gu);
  if (letters < 200) return undefined;
  const [, ofScript] = SCRIPTS.find(([letter]) => countOf(sample, letter) > letters / 5) ?? [];
  return ofScript ?? byWords(sample.match(/\p{L}+/gu) ?? []);
}

const countOf = (text: string, part: RegExp): number => text.match(part)?.length ?? 0;

function byWords(all: readonly string[]): string | undefined {
  const [best, next] = Object.entries(COMMON)
    .map(([code, common]) => ({ code, share: all.filter((word) => common.has(word)).length / all.length }))
    .sort((a, b) => b.share - a.share);
  const isClear = best !== undefined && best.share > 0.08 && best.share > (next?.share ?? 0) * 1.15;
  return isClear ? best.code : undefined;
}
