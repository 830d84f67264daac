/**
 * Words, names and patterns that lead every published list of leaked passwords. `password-rule.ts` also refuses what people make
 * of them: capitals, look-alike characters, digits and punctuation around them, and the word twice.
 */
const words = `
password passwort passwd motdepasse contrasena senha parola wachtwoord haslo pass passw pword secret geheim test testing tester
admin administrator root user guest login welcome hello changeme letmein default master access system server manager support
service demo temp temporary public private computer internet samsung apple google facebook microsoft windows linux android iphone
nintendo playstation xbox pokemon pikachu minecraft starwars skywalker startrek matrix batman superman spiderman ironman wolverine
hulk avengers joker harrypotter hogwarts gandalf frodo legolas naruto sasuke dragonball goku vegeta sephiroth zelda mario luigi
qwerty qwertz azerty qwertyuiop qwert asdf asdfgh asdfghjkl zxcv zxcvbn zxcvbnm qazwsx qweasd qweasdzxc qazwsxedc wsxedc
dragon monkey tiger lion eagle falcon hawk wolf bear panda shark dolphin horse pony kitty kitten cat dog puppy bunny rabbit turtle
butterfly spider snake cobra viper scorpion panther jaguar leopard cheetah buffalo elephant chicken penguin hamster parrot
football baseball basketball soccer hockey tennis golf softball volleyball wrestling boxing cricket rugby fishing hunting racing
liverpool arsenal chelsea manchester manunited everton tottenham barcelona realmadrid juventus milan inter bayern dortmund benfica
lakers celtics yankees redsox cowboys packers steelers raiders broncos eagles giants bears patriots dolphins rangers bulldogs
iloveyou iloveu loveyou ilovegod ilovejesus lovely lover love loveme truelove sweetheart sweetie honey darling angel baby babygirl
babyboy princess prince queen king sunshine rainbow flower rose daisy lily jasmine violet orchid cherry strawberry banana orange
apple lemon peach mango melon cookie chocolate candy sugar sweet cheese pizza burger coffee pepper ginger butter cupcake peanut
summer winter spring autumn january february march april june july august september october november december monday tuesday
wednesday thursday friday saturday sunday sunny freedom liberty peace happy smile lucky fortune money dollar million diamond
golden silver platinum crystal purple yellow green orange black white blue red pink
shadow phantom ghost killer hunter sniper ranger warrior soldier gladiator ninja samurai pirate viking knight wizard
merlin magic mystic legend hero champion victory winner thunder lightning storm blizzard hurricane tornado fire flame phoenix
blaze inferno devil demon satan lucifer heaven jesus christ god godislove jesus1 church faith hope trustno trustme
mustang corvette camaro ferrari porsche lamborghini mercedes honda toyota nissan subaru suzuki yamaha kawasaki harley ducati
chevy chevrolet cadillac jeep bmw audi volvo
michael jordan jennifer jessica michelle nicole ashley amanda stephanie melissa danielle elizabeth samantha victoria
charlotte caroline christine christina katherine catherine margaret patricia barbara rebecca rachel hannah emily sophie
olivia isabella natalie natasha vanessa veronica alexandra alexander alexandre alexis andrea andrew anthony antonio
benjamin brandon bradley charles charlie christian christopher daniel david dennis donald douglas edward eduardo eric
fernando francis francisco frank gabriel george gregory harrison henry jackson jacob james jason jeffrey jeremy jonathan
joseph joshua justin kenneth kevin lauren leonardo lorenzo lucas marcus maria mariana martin martinez matthew maurice maxwell
michaela miguel mohammed muhammad nathan nicholas patrick peter philip phillip raymond ricardo richard robert roberto rodrigo ronaldo
samuel sebastian spencer stephen steven sydney taylor theodore thomas timothy tyler valentina vincent walter william zachary
heather kimberly crystal tiffany brittany courtney chelsea morgan madison brooklyn savannah austin dallas denver phoenix houston
chicago boston london paris berlin madrid moscow tokyo newyork america canada mexico brazil england ireland scotland germany france
italia espana russia ukraine australia california florida texas arizona colorado
metallica nirvana slipknot ironmaiden acdc eminem rihanna beyonce madonna beatles pinkfloyd blink greenday onedirection
snoopy garfield mickey minnie donald goofy bugsbunny tweety scooby homer simpson bart barney elmo winnie tigger bambi stitch cinderella
ncc1701 thx1138 bond007 jamesbond rocky rambo terminator predator alien godzilla scarface goldfish bluebird blackcat reddog
whatever nothing something anything everything forever together friends friend family mother father brother sister daughter
mommy daddy mama papa grandma birthday christmas halloween vacation holiday beach ocean island hawaii surfing surfer
guitar piano drummer music dance dancer dancing singer player gamer gaming hacker cracker blahblah fuckyou fuckoff fuckme asshole bitch
bullshit pussy sexy playboy hotmail gmail yahoo badboy badgirl bigdaddy bigboy bigdick
student teacher school college university doctor lawyer police army navy marine marines airborne pilot captain sergeant colonel
general engineer security network database oracle cisco juniper router switch firewall postgres mysql ubuntu debian redhat docker
kubernetes jenkins grafana monitor monitoring parallax uptime
computer1 abc abcd abcdef abcdefg abcdefgh abcabc aaaa zaq1zaq1 zaq12wsx 1qaz2wsx 1q2w3e4r 1q2w3e4r5t q1w2e3r4 q1w2e3r4t5 1qazxsw2
qwer1234 asdf1234 zxcv1234 a1b2c3d4 abc123 a123456 p0o9i8u7 147258369 159357 741852963 789456123 987654321 123654789 112233 121212
123321 131313 232323 456789 520520 555666 696969 778899 987456 102030 101010 010203 010101 111222 123123 147852 159753 246810 258456
5201314 woaini woaini1314 aini1314
marina natalia svetlana ekaterina anastasia tatiana vladimir dmitry sergey nikita maxim ivanov lokomotiv spartak zenit privet parol
lubov solnyshko zvezda krasota
`;

/** The base words, lower case. */
export const commonWords: ReadonlySet<string> = new Set(words.split(/\s+/).filter((word) => word !== ''));
