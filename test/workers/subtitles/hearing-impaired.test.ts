import { expect } from 'chai';
import { isForHearingImpaired } from '#workers/subtitles/hearing-impaired.ts';

/** Cues are separated by `|`, lines by `/`. */
const cues = (text: string) => text.split('|').map((cue) => ({ text: cue.trim().replaceAll(' / ', '\n') }));

const filler = (count: number, sentence: string): string => new Array<string>(count).fill(sentence).join('|');

const SDH: Readonly<Record<string, string>> = {
  'sounds in square brackets': '[door slams]|Who is there?|[footsteps]|It is only me.|[sighs] Come in.',
  'sounds in round ones': '(sighs)|I knew it.|(DOG BARKING)|Stay.|Not now. (phone rings)',
  'speakers in capitals': 'MARY: Where were you?|JOHN: At work.|All day?|MAN 2: He was.|MRS. DOE: Was he?',
  'speakers after dashes': '- MARY: Stop!|- No.|- JOHN: Why? / - MARY: Because.|ANNA: Please.',
  'speakers in brackets': '[Mary] I am here.|[John] Where?|Over there.|(Anna) Look!',
  'in italics': '<i>[thunder rumbling]</i>|<i>NARRATOR: Once there was a king.</i>|A king?|[laughter]',
  'music and sounds': '♪ [upbeat music playing] ♪|[upbeat music]|Hello.|[applause]|[crowd cheering]',
  'a fair share of a long film': `${filler(60, 'We have to go now.')}|[gunshot]|[screaming]|[tires screech]`,
  German: '(Tür knallt)|Wer ist da?|(Schritte)|(Musik)|Ich bin es.',
  French: '[Rires]|Bonsoir.|[Musique]|[Porte qui claque]|Qui est là ?',
  Spanish: '(RISAS)|¿Quién es?|(MÚSICA)|MARÍA: Soy yo.|Pasa.',
  Polish: '[dzwoni telefon]|Słucham?|[wzdycha]|[śmiech]|Już idę.',
  Japanese: '（ドアが閉まる音）|誰だ|（ため息）|（太郎）俺だ|入れ',
  Chinese: '【雷声】|你是谁？|（叹气）|（笑声）|是我。',
  Russian: '[стук в дверь]|Кто там?|[вздыхает]|ИВАН: Это я.|Входи.',
  'a remark in the middle of a cue': 'Come in. / [knocking]|Yes?|(gasps) / What?|[door opens]',
  'captions of a station': '>> ANCHOR: Good evening.|[Applause]|REPORTER: It rains.|[Laughter]|Thank you.',
};

const ORDINARY: Readonly<Record<string, string>> = {
  dialogue: 'Where were you?|At work.|All day?|All day.|I do not believe you.',
  'a single sound': `[door slams]|${filler(40, 'Where were you?')}`,
  'asides that are sentences':
    '(I think he is lying.)|Yes.|(So do I.)|(We should go now!)|Fine.|(Wait for me, please.)',
  'long remarks':
    '(this is how the old man in the village has put it before)|So?|(and no one in the whole town believed him)|Hm.|(or so the story of the two brothers goes on)|Yes.',
  'brackets in a sentence':
    'He (the king) is dead.|Long live the king.|She [the queen] knew it.|Did she?|They (all of them) left.',
  'times and scores': 'It is 10:30.|Chapter 3: the end.|We won 3:1.|Psalm 23:4.|See you at 8:15.',
  'a colon after a word': 'Listen: we go now.|One thing: do not run.|Remember: stay low.|Rule one: no noise.|Fine: go.',
  'titles in capitals': 'PARIS, 1944|THE END|CHAPTER TWO|Where are we?|In Paris.|LATER THAT DAY',
  'signs alone': '[Police station]|[Exit]|[No entry]|[Hotel]|[Closed]',
  'capitals throughout': 'HELLO THERE.|WHO ARE YOU?|NOTE: THIS IS ALL.|WARNING: DO NOT ENTER.|PS: I LOVE YOU.|OK.',
  songs: '♪ I walk alone ♪|♪ In the rain ♪|♪ And I sing ♪|Nice song.|♪ Alone again ♪',
  'two speakers with dashes': '- Where?|- There. / - Where?|- Over there!|- I see.|- Good.',
  'numbers in brackets': '(1)|First.|(2)|Second.|(3)|Third.',
  'a letter that is read': 'Dear Mary:|I am well.|Dear John:|So am I.|Yours: Mary',
  'a colon at the end': 'He cried:|"Go."|She cried:|"No."|They cried:|"Why?"',
  German: 'Wo warst du?|Merke: Das geht nicht.|Na gut.|Er (der König) ist tot.|Wirklich?',
  French: 'Attention : danger.|Où es-tu ?|Note : rien.|Voilà.|Bon.',
  Spanish: '¿Dónde estás?|Aquí.|Recuerda: nada.|Vale.|Ojo: cuidado.',
  Japanese: 'どこにいる？|ここだ|行こう|待って|（笑）',
  Chinese: '你在哪里？|我在这里。|注意：危险。|走吧。|好。',
  Russian: 'Где ты?|Я здесь.|Помни: ни слова.|Хорошо.|Идём.',
  'two remarks in a long film': `(laughs)|[sighs]|${filler(90, 'Let us go.')}`,
  'an empty track': '',
  'emoticons and marks': 'OK :)|Fine (?)|What (!)|[...]|(...)|Bye :(',
  'a list': 'Two things:|A: the money.|B: the car.|C: the keys.|And D: you.',
  'a computer': 'Error: no signal.|Status: ready.|Access: denied.|Open the door.|Door: open.',
  'lines that end in a bracket': 'We met (in Paris).|Once (or twice).|Never (I hope).|Maybe.|Sure.',
  'a scoreboard': 'Arsenal 2: Chelsea 1|Goal!|Leeds 0: York 0|Half time.|Over.',
};

describe('subtitles for the hearing impaired', () => {
  for (const [name, text] of Object.entries(SDH))
    it(`are known by their cues: ${name}`, () => {
      expect(isForHearingImpaired(cues(text))).to.equal(true);
    });

  for (const [name, text] of Object.entries(ORDINARY))
    it(`are not ordinary ones: ${name}`, () => {
      expect(isForHearingImpaired(cues(text))).to.equal(false);
    });
});
