/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function words: they occur in every text and say nothing about it. An apostrophe
 * separates, so its pieces ("don", "t", "qu", "dell") are words here too. Each list is
 * normalised as texts are (no sharp s, for one), sorted by bytes, with single spaces,
 * which test_language.c checks.
 */
#include "text/stop_words.h"

const char nigh__stop_words_english[] =
    "a about above across after again against ain all almost along already also although always am among an "
    "and another any anybody anyone anything anywhere are aren around as at away be because been before behind "
    "being below between both but by can cannot could couldn d did didn do does doesn doing don done down "
    "during each either else enough even ever every everybody everyone everything everywhere few for from "
    "further had hadn has hasn have haven having he hence her here hers herself him himself his how however i "
    "if in indeed instead into is isn it its itself just least less ll m ma many may maybe me might mightn "
    "mine more most mostly much must mustn my myself needn neither never nevertheless no nobody non none nor "
    "not nothing now nowhere o of off often on once one only onto or other others otherwise ought our ours "
    "ourselves out over own per perhaps quite rather re s same several shall shan she should shouldn since so "
    "some somebody someone something sometimes somewhere still such t than that the their theirs them "
    "themselves then thence there therefore these they this those though through throughout thus to together "
    "too toward towards under unless until up upon us ve very via was wasn we were weren what whatever when "
    "whenever where wherever whether which while whither who whoever whom whose why will with within without "
    "won would wouldn y yet you your yours yourself yourselves";

const char nigh__stop_words_german[] =
    "aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm "
    "andern anders auch auf aus bei beim bin bis bist da dabei dadurch dafür dagegen daher damit danach dann "
    "daran darauf daraus darf darin darum darüber das dass dasselbe davon davor dazu dein deine deinem "
    "deinen deiner deines dem demselben den denn denselben der derer derselbe derselben des desselben dessen "
    "dich die dies diese dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch ein eine "
    "einem einen einer eines einig einige einigem einigen einiger einiges einmal er es etwas euch euer eure "
    "eurem euren eurer eures für gegen gewesen hab habe haben hat hatte hatten her hier hin hinter hätte "
    "hätten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem ins ist ja je jede jedem "
    "jeden jeder jedes jedoch jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines "
    "können könnte machen man manche manchem manchen mancher manches mehr mein meine meinem meinen meiner "
    "meines mich mir mit muss musste müssen nach nachdem nein nicht nichts noch nun nur ob obwohl oder ohne "
    "schon sehr sein seine seinem seinen seiner seines seit selbst sich sie sind so sobald solche solchem "
    "solchen solcher solches soll sollen sollte sondern sonst soweit sowie um und uns unser unsere unserem "
    "unseren unserer unseres unter viel viele vielen vom von vor war waren warst was weder weg weil weiter "
    "welche welchem welchen welcher welches wenn wer werde werden werdet weshalb wie wieder will wir wird "
    "wirst wo wohl wollen wollte worden wurde wurden während wäre würde würden zu zum zur zwar zwischen über";

const char nigh__stop_words_french[] =
    "ai aient ainsi alors après as au aucun aucune aura aurait auront aussi autant autre autres aux avaient "
    "avait avant avec avez avions avoir avons ayant beaucoup bien c car ce ceci cela celle celles celui "
    "cependant ces cet cette ceux chaque chez ci comme comment d dans de depuis des deux devant doit donc "
    "dont du durant dès elle elles en encore enfin entre es est et eu eux faire fait faut fois font furent "
    "fut hors ici il ils j jamais je jusqu jusque l la laquelle le lequel les lesquelles lesquels leur leurs "
    "lorsqu lorsque lui là m ma maintenant mais malgré me mes mien moi moins mon même mêmes n ne ni non nos "
    "notre nous nôtre on ont or ou où par parce parfois parmi pas pendant peu peut peuvent plus plusieurs "
    "pour pourquoi puis puisque qu quand que quel quelle quelles quelque quelques quels qui quoi rien s sa "
    "sans se selon sera serait seront ses si sien sinon soi soit sommes son sont sous souvent suis sur t ta "
    "tandis tant te telle telles tels tes toi ton toujours tous tout toute toutes trop très tu un une va "
    "vers voici voilà vos votre vous y à étaient étais était étant été êtes être";

const char nigh__stop_words_spanish[] =
    "a al algo alguna algunas alguno algunos allí ante antes aquel aquella aquellas aquello aquellos aquí "
    "así aun aunque aún bajo bien cada casi como con contra cual cuales cuando cuanto cuál cuándo cómo de "
    "del desde donde dos durante dónde e el ella ellas ellos en entonces entre era eran es esa esas ese eso "
    "esos esta estaba estaban estar estas este esto estos estoy está están fin fue fueron fui ha haber había "
    "habían hace hacen hacer hacia han hasta hay he hemos incluso la las le les lo los luego me mediante "
    "menos mi mientras mis misma mismas mismo mismos mucha muchas mucho muchos muy más mí nada ni ninguna "
    "ninguno ningún no nos nosotras nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro "
    "otros para pero poca poco pocos podía por porque puede pueden pues que quien quienes quién qué se sea "
    "sean según ser será si sido siempre sin sino sobre son soy su sus suya suyo sí tal también tampoco tan "
    "tanta tanto te tener tengo tenido tenía tiene tienen toda todas todavía todo todos tras tu tus tuyo tú "
    "u un una unas uno unos usted ustedes va vez vosotras vosotros vuestra vuestro y ya yo él";

const char nigh__stop_words_italian[] =
    "a abbia abbiamo ad adesso agli ai al alcun alcuna alcune alcuni alcuno all alla alle allo allora altra "
    "altre altri altro anche ancora anzi appena avere aveva avevano avuto ben bene c che chi ci cioè circa "
    "ciò coi col come con contro così cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della "
    "delle dello dentro di dopo dove due dunque durante e ecco ed egli ella era erano essa esse essere essi "
    "esso fa fanno fare fino fra fu furono già gli ha hai hanno ho i il in infatti inoltre invece io l la le "
    "lei li lo loro lui là m ma mai me meno mentre mi mia mie miei mio molta molte molti molto ne negli nei "
    "nel nell nella nelle nello nessun nessuna nessuno niente no noi non nostra nostre nostri nostro nulla o "
    "od ogni oltre oppure ora per perché perciò pero però più poco poi poiché possono prima proprio pur pure "
    "può qua qual qualche quale quali quando quanta quanti quanto quasi quel quell quella quelle quelli "
    "quello quest questa queste questi questo qui quindi s saranno sarà se secondo sei sempre senza si sia "
    "siamo siano sono sopra sotto sta stata stati stato stesso su sua sue sugli sui sul sull sulla sulle "
    "sullo suo suoi sé sì t tale tali tanto te ti tra troppo tu tua tue tuo tuoi tutta tuttavia tutte tutti "
    "tutto un una uno v va verso vi voi vostra vostre vostri vostro è";

const char nigh__stop_words_portuguese[] =
    "a ainda algo algum alguma algumas alguns além ambos antes ao aos apenas após aquela aquelas aquele "
    "aqueles aquilo as assim através até bem cada com como contra da daquela daquele das de dela delas dele "
    "deles depois desde dessa desse desta deste dever disso disto do dos duas durante e ela elas ele eles em "
    "enquanto entre era eram essa essas esse esses esta estar estas estava estavam este estes está estão eu "
    "faz fazer foi for foram fosse haver havia há isso isto já la lhe lhes lo logo lá mais mas me mesma "
    "mesmas mesmo mesmos meu meus minha minhas muita muitas muito muitos na nada nas nem nenhum nenhuma "
    "nessa nesse nesta neste ninguém no nos nossa nossas nosso nossos num numa nunca não nós o onde os ou "
    "outra outras outro outros para pela pelas pelo pelos per perante pode podem pois por porque portanto "
    "porém pouco poucos quais qual qualquer quando quanto que quem quê se seja sejam sem sempre sendo ser "
    "será serão seu seus si sido sob sobre sua suas só tal talvez também tampouco tanto te tem tendo tenha "
    "ter teu teus tinha tinham toda todas todo todos tu tua tuas tudo têm um uma umas uns vai você vocês vos "
    "vosso vós à às é";

const char nigh__stop_words_dutch[] =
    "aan achter af al alle alleen alles als altijd ander andere anders beide ben bij binnen boven daar "
    "daarom dan dat de deze die dit doch doen door dus een eens eerst elk elke en er erg ergens etc even ge "
    "geen geweest haar had hadden heb hebben hebt heeft heel hem hen het hier hij hoe hoewel hun ieder "
    "iedere iemand iets ik in indien inmiddels is ja je jij jou jouw jullie kan kon konden kunnen kunt maar "
    "me meer men met mij mijn misschien mocht moest moet moeten mogen na naar nadat niemand niet niets nog "
    "nooit nu of om omdat onder ons onze ook op over reeds s sinds slechts sommige soms t te tegen ten ter "
    "terwijl tijdens toch toen tot totdat tussen u uit uw van vanaf veel via volgens voor vooral voordat "
    "waar waarom wanneer want waren was wat we weer wel welk welke werd werden wezen wie wij wil willen word "
    "worden wordt wou zal ze zeer zelf zich zij zijn zo zoals zonder zou zouden zowel zullen";

const char nigh__stop_words_swedish[] =
    "aldrig alla allt alltid andra att av bakom bara bland blev bli blir blivit både de del dem den denna "
    "deras dess dessa det detta dig din dina dit ditt du där då efter efteråt eller emot en enligt ens er "
    "era ert ett fanns fram från få får fått för före genom ha hade han hans har hela henne hennes hit hon "
    "honom hur här i icke igen in inför ingen inget inom inte ja jag just kan kom kommer kunde kunna man med "
    "medan mellan men mer mest mig min mina mitt mot mycket många måste ned nej ni nog nu när nästan någon "
    "något några och också olika om oss på redan sade samma samt sedan sig sin sina sitt själv ska skall "
    "skulle snart som säger så sådan sådana sådant till tills trots under upp ut utan vad var vara varför "
    "varit varje vars vart vem vi vid vilka vilkas vilken vilket vill ville vår våra vårt än åt över";

const char nigh__stop_words_danish[] =
    "ad af aldrig alle allerede alligevel alt altid anden andet andre at bag begge blandt blev blive bliver "
    "både da de dem den denne der deres det dette dig din dine disse dit dog du efter egen ej eller en end "
    "endnu er et fik flere for fordi forud fra få får før først gennem gør ham han hans har havde have hende "
    "hendes her hos hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i igen "
    "igennem ikke imellem imod ind inden ingen intet ja jeg jer jeres jo kan kom komme kun kunne lige man "
    "mange med meget mellem men mens mere mest mig min mindre mine mit mod må måske ned nej nogen noget "
    "nogle nok nu når næsten og også om op os over på samme samt selv siden sig sin sine sit skal skulle som "
    "stadig store så sådan thi til tit ud uden under var ved vi vil ville vor vore vores være været";

const char nigh__stop_words_norwegian[] =
    "alle allerede alltid alt andre annen annet at av bak bare begge ble blei bli blir blitt både båe da de "
    "deg dei deim deira deires dem den denne der dere deres det dette di din disse ditt dykk dykkar då eg "
    "ein eit eitt eller elles en enn ennå er et ett etter for fordi fra få får før gjennom ha hadde han hans "
    "har hennar henne hennes her hjå ho hoe honom hoss hossen hun hva hvem hver hvilke hvilken hvis hvor "
    "hvordan hvorfor i ikke ikkje ingen ingi inkje inn innen inni ja jeg kan kom korleis korso kun kunne kva "
    "kvar kvarhelst kven kvi kvifor man mange me med medan meg meget mellom men mens mer mest mi min mine "
    "mitt mot mye mykje må måtte ned nei no noe noen noka noko nokon nokor nokre nå når og også om opp oss "
    "over på samme seg selv si sia sidan siden sin sine sitt sjøl skal skulle slik so som somme somt så sånn "
    "til um under upp ut uten var vart varte ved vere verte vi vil ville vore vors vort vår våre vårt være "
    "vært å";

const char nigh__stop_words_finnish[] =
    "aina ainakin alla asti ehkä ei eikä eivät eli ellei emme en enemmän ennen enää erittäin et ette että he "
    "heidän heidät heihin heille heillä heiltä heissä heistä heitä hyvin hän häneen hänelle hänellä häneltä "
    "hänen hänestä hänet häntä ilman itse itseään ja jo johon joiden joihin joiksi joilla joille joilta "
    "joina joissa joista joita joka joko joku jolla jolle jolloin jolta jona jonka jopa jos joskus jossa "
    "josta jota jotka jotta juuri kaikki kanssa kautta keiden keitä keneen kenelle kenen ketkä ketä koko "
    "koska kuin kuinka kuitenkin kuka kukaan kun kunnes kyllä lisäksi luona lähes läpi me meidän meidät "
    "meihin meille meillä meiltä meissä meistä meitä mihin miksi mikä mikään mille millä millään miltä minkä "
    "minua minulla minulle minun minut minä missä mistä mitkä mitä mitään muiden muita mukaan mutta muu muun "
    "muut muuta myös ne niiden niihin niille niillä niiltä niin niissä niistä niitä noiden noin noissa noita "
    "nuo nyt näiden näihin näille näillä näissä näistä näitä nämä olemme olen olet olette oli olisi olisivat "
    "olit olivat olla olleet ollut on ovat paljon pitkin päälle saa se sekä sellainen sen siellä siihen "
    "siinä siis siitä sille sillä siltä sinua sinulle sinun sinut sinä sitten sitä taas tai te teidän teidät "
    "teille teillä teitä tuo tuohon tuolla tuon tuossa tuosta tuota tähän tälle tällä tämä tämän tässä tästä "
    "tätä vaan vai vaikka vain vielä voi voivat vuoksi yli";

const char nigh__stop_words_russian[] =
    "а без более больше будем будет будете будешь будто буду будут бы был была были было быть в вам вами вас "
    "ваш ваша ваше ваши вдруг ведь во вокруг вообще вот впрочем все всегда всего всей всем всеми всему всех "
    "всю вся всё вы где да даже для до другие другого другой его ее ей ему если есть еще ещё ею её ж же за "
    "зачем здесь и из или им ими иногда их к каждый как какая какие какой кем ко когда кого кому конечно "
    "которая которого которое которой котором которому которую которые который которых кто куда ли либо лишь "
    "лучше между меня мне много мной мог могут может можно мои мой моя мы на над надо наконец нам нами нас "
    "наш наша наше наши не него нее ней нельзя нему несколько нет нею неё ни нибудь никогда ним ними них "
    "ничего но ну о об однако он она они оно опять от очень перед по под пока после потом потому почему "
    "почти при про просто раз разве с сам сама сами само свое своего своей своем свои своих свой свою своя "
    "себе себя сейчас со совсем так такая также такие такой там твой тебе тебя тем теперь то тобой тогда "
    "того тоже той только том тому тот ту тут ты у уж уже хоть хотя чего чей чем через что чтоб чтобы чуть "
    "чья чьё эта эти этим этих это этого этой этом этому этот эту я";
