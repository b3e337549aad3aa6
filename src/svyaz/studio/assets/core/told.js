// Sentences of the library in the languages of the studio: theorems, their hypotheses, what became of runs. A sentence is known by
// its English template, {0} stands for numbers and names; one that has no template here is shown as it is.

import { language } from "./words.js";

const SENTENCES = [
  // theorems
  ["Krasinskaya and Krasinskii, special case of m zero roots (Lyapunov, Malkin)", "Красинская и Красинский, особенный случай m нулевых корней (Ляпунов, Малкин)", "Красинська і Красинський, особливий випадок m нульових коренів (Ляпунов, Малкін)"],
  ["Lyapunov, first approximation", "Ляпунов, первое приближение", "Ляпунов, перше наближення"],
  ["Lagrange and Dirichlet (Routh, for redundant coordinates)", "Лагранж и Дирихле (Раус, для избыточных координат)", "Лагранж і Діріхле (Раус, для надлишкових координат)"],
  ["Lyapunov, one zero root: the first power of the reduced force that does not vanish", "Ляпунов, один нулевой корень: первая не исчезающая степень приведённой силы", "Ляпунов, один нульовий корінь: перший степінь зведеної сили, що не зникає"],
  ["Lyapunov and Malkin, special case: a family of equilibria", "Ляпунов и Малкин, особенный случай: семейство положений равновесия", "Ляпунов і Малкін, особливий випадок: сім’я положень рівноваги"],
  ["Lyapunov, a pair of imaginary roots: the first coefficient", "Ляпунов, пара мнимых корней: первый коэффициент", "Ляпунов, пара уявних коренів: перший коефіцієнт"],
  ["Barbashin and Krasovskii: a strict minimum of the potential energy, and damping of every motion", "Барбашин и Красовский: строгий минимум потенциальной энергии и диссипация в каждом движении", "Барбашин і Красовський: строгий мінімум потенціальної енергії та дисипація в кожному русі"],
  ["Barbashin and Krasovskii: a strict minimum of the reduced (amended) potential energy, and damping of every motion", "Барбашин и Красовский: строгий минимум приведённой (изменённой) потенциальной энергии и диссипация в каждом движении", "Барбашин і Красовський: строгий мінімум зведеної (зміненої) потенціальної енергії та дисипація в кожному русі"],
  ["Koiter: no minimum of the potential energy", "Койтер: потенциальная энергия не имеет минимума", "Койтер: потенціальна енергія не має мінімуму"],
  ["Koiter: no minimum of the reduced (amended) potential energy", "Койтер: приведённая (изменённая) потенциальная энергия не имеет минимума", "Койтер: зведена (змінена) потенціальна енергія не має мінімуму"],
  ["Palamodov, Kozlov: the first form of the potential energy has no minimum", "Паламодов, Козлов: первая форма потенциальной энергии не имеет минимума", "Паламодов, Козлов: перша форма потенціальної енергії не має мінімуму"],
  ["Palamodov, Kozlov: the first form of the reduced (amended) potential energy has no minimum", "Паламодов, Козлов: первая форма приведённой (изменённой) потенциальной энергии не имеет минимума", "Паламодов, Козлов: перша форма зведеної (зміненої) потенціальної енергії не має мінімуму"],
  ["the integral of energy, one degree of freedom: no minimum of the potential energy", "интеграл энергии, одна степень свободы: потенциальная энергия не имеет минимума", "інтеграл енергії, один ступінь вільності: потенціальна енергія не має мінімуму"],
  ["the integral of energy, one degree of freedom: no minimum of the reduced (amended) potential energy", "интеграл энергии, одна степень свободы: приведённая (изменённая) потенциальная энергия не имеет минимума", "інтеграл енергії, один ступінь вільності: зведена (змінена) потенціальна енергія не має мінімуму"],
  ["the integral of momentum: a small velocity along a displacement that changes nothing stays for ever", "интеграл импульса: малая скорость вдоль перемещения, ничего не меняющего, сохраняется навсегда", "інтеграл імпульсу: мала швидкість уздовж переміщення, що нічого не змінює, зберігається назавжди"],
  ["the first approximation does not decide: a critical case beyond the zero roots of the constraints", "первое приближение не решает: критический случай помимо нулевых корней связей", "перше наближення не вирішує: критичний випадок крім нульових коренів в’язей"],
  ["Lagrange and Dirichlet: the Hamiltonian is a first integral and has a strict extremum", "Лагранж и Дирихле: функция Гамильтона — первый интеграл со строгим экстремумом", "Лагранж і Діріхле: функція Гамільтона — перший інтеграл зі строгим екстремумом"],
  ["Lyapunov and Malkin, special case: a manifold of steady motions (Neimark and Fufaev)", "Ляпунов и Малкин, особенный случай: многообразие стационарных движений (Неймарк и Фуфаев)", "Ляпунов і Малкін, особливий випадок: многовид стаціонарних рухів (Неймарк і Фуфаєв)"],
  ["Devaney: a reversible system, in which each motion nearby is periodic", "Девани: обратимая система, все близкие движения которой периодичны", "Девані: оборотна система, усі близькі рухи якої періодичні"],
  ["Theorem 2.6.1 (Krasinskii): stable; asymptotically where the momenta are not perturbed", "Теорема 2.6.1 (Красинский): устойчиво; асимптотически, если импульсы не возмущены", "Теорема 2.6.1 (Красинський): стійко; асимптотично, якщо імпульси не збурені"],
  ["Routh, with Lyapunov's addition for perturbed momenta", "Раус, с дополнением Ляпунова о возмущённых импульсах", "Раус, з доповненням Ляпунова про збурені імпульси"],
  ["Malkin, persistent disturbances: asymptotic at unperturbed momenta, and stable when they are perturbed", "Малкин, постоянно действующие возмущения: асимптотически при невозмущённых импульсах и устойчиво при возмущённых", "Малкін, постійно діючі збурення: асимптотично при незбурених імпульсах і стійко при збурених"],
  ["what is known at unperturbed momenta says nothing about perturbed ones", "известное при невозмущённых импульсах ничего не говорит о возмущённых", "відоме при незбурених імпульсах нічого не говорить про збурені"],
  ["Krasinskii: stabilisation by linear feedback on the controllable subsystem, special case of m zero roots", "Красинский: стабилизация линейной обратной связью управляемой подсистемы, особенный случай m нулевых корней", "Красинський: стабілізація лінійним зворотним зв’язком керованої підсистеми, особливий випадок m нульових коренів"],
  ["Krasinskii: stabilisation by an observer of the controllable subsystem, special case of m zero roots", "Красинский: стабилизация с наблюдателем управляемой подсистемы, особенный случай m нулевых корней", "Красинський: стабілізація зі спостерігачем керованої підсистеми, особливий випадок m нульових коренів"],
  ["Krasovskii: stabilisation by the first approximation, linear feedback on a controllable pair", "Красовский: стабилизация по первому приближению, линейная обратная связь управляемой пары", "Красовський: стабілізація за першим наближенням, лінійний зворотний зв’язок керованої пари"],
  ["Krasovskii: stabilisation by the first approximation, an observer of a controllable and observable pair", "Красовский: стабилизация по первому приближению, наблюдатель управляемой и наблюдаемой пары", "Красовський: стабілізація за першим наближенням, спостерігач керованої та спостережної пари"],
  ["Krasinskii: stabilisation of a steady motion by linear feedback at fixed momenta; asymptotic where the conserved momenta are not perturbed, stable where they are", "Красинский: стабилизация стационарного движения линейной обратной связью при фиксированных импульсах; асимптотически, если сохраняющиеся импульсы не возмущены, и устойчиво, если возмущены", "Красинський: стабілізація стаціонарного руху лінійним зворотним зв’язком при фіксованих імпульсах; асимптотично, якщо збережні імпульси не збурені, і стійко, якщо збурені"],
  // hypotheses
  ["{0} root has a positive real part", "{0} корень имеет положительную вещественную часть", "{0} корінь має додатну дійсну частину"],
  ["{0} roots have a positive real part", "{0} корней имеют положительные вещественные части", "{0} коренів мають додатні дійсні частини"],
  ["all {0} roots have negative real parts", "все корни ({0}) имеют отрицательные вещественные части", "усі корені ({0}) мають від’ємні дійсні частини"],
  ["the other {0} roots have negative real parts", "остальные корни ({0}) имеют отрицательные вещественные части", "решта коренів ({0}) мають від’ємні дійсні частини"],
  ["all {0} roots of the closed loop other than those of constraints have negative real parts", "все корни замкнутой системы ({0}), кроме корней связей, имеют отрицательные вещественные части", "усі корені замкненої системи ({0}), крім коренів в’язей, мають від’ємні дійсні частини"],
  ["all {0} roots of the closed loop have negative real parts", "все корни замкнутой системы ({0}) имеют отрицательные вещественные части", "усі корені замкненої системи ({0}) мають від’ємні дійсні частини"],
  ["det ∂F/∂s ≠ 0 at the equilibrium: its least singular value is {0} of the largest of ∂F/∂q", "det ∂F/∂s ≠ 0 в равновесии: наименьшее сингулярное число составляет {0} наибольшего для ∂F/∂q", "det ∂F/∂s ≠ 0 у рівновазі: найменше сингулярне число становить {0} найбільшого для ∂F/∂q"],
  ["the rates of z = y - B(0)x have no linear terms: B(q) tends to B(0), {0} zero root", "производные z = y − B(0)x не имеют линейных членов: B(q) стремится к B(0), нулевых корней: {0}", "похідні z = y − B(0)x не мають лінійних членів: B(q) прямує до B(0), нульових коренів: {0}"],
  ["the rates of z = y - B(0)x have no linear terms: B(q) tends to B(0), {0} zero roots", "производные z = y − B(0)x не имеют линейных членов: B(q) стремится к B(0), нулевых корней: {0}", "похідні z = y − B(0)x не мають лінійних членів: B(q) прямує до B(0), нульових коренів: {0}"],
  ["the constraints do not contain the time: the rates of z vanish with the velocities", "связи не содержат времени: производные z исчезают вместе со скоростями", "в’язі не містять часу: похідні z зникають разом зі швидкостями"],
  ["perturbations satisfy the constraints: small ones of each independent coordinate were completed to |F| = {0}", "возмущения удовлетворяют связям: малые возмущения независимых координат дополнены до |F| = {0}", "збурення задовольняють в’язі: малі збурення незалежних координат доповнено до |F| = {0}"],
  ["perturbations satisfy the constraints: small ones of each independent coordinate could not be completed", "возмущения удовлетворяют связям: малые возмущения независимых координат дополнить не удалось", "збурення задовольняють в’язі: малі збурення незалежних координат доповнити не вдалося"],
  ["perturbations satisfy the constraints, which the motion then does not leave", "возмущения удовлетворяют связям, и движение их не покидает", "збурення задовольняють в’язі, і рух їх не покидає"],
  ["the pair (A, B) without z is controllable", "пара (A, B) без z управляема", "пара (A, B) без z керована"],
  ["the pair (A, B) is controllable", "пара (A, B) управляема", "пара (A, B) керована"],
  ["the pair (A, C) is observable", "пара (A, C) наблюдаема", "пара (A, C) спостережна"],
  ["zero roots of the closed loop: {0}, and {1} constraint", "нулевых корней замкнутой системы: {0}, связей: {1}", "нульових коренів замкненої системи: {0}, в’язей: {1}"],
  ["zero roots of the closed loop: {0}, and {1} constraints", "нулевых корней замкнутой системы: {0}, связей: {1}", "нульових коренів замкненої системи: {0}, в’язей: {1}"],
  ["the Riccati equation is solved to rounding: residual {0}", "уравнение Риккати решено до округления: невязка {0}", "рівняння Ріккаті розв’язано до округлення: нев’язка {0}"],
  ["the input {0} = {1} that holds the equilibrium lies within its limits", "управление {0} = {1}, удерживающее равновесие, лежит в своих пределах", "керування {0} = {1}, що утримує рівновагу, лежить у своїх межах"],
  ["one root is zero", "один корень нулевой", "один корінь нульовий"],
  ["the first coefficient is {0}, to {1}", "первый коэффициент равен {0} с точностью {1}", "перший коефіцієнт дорівнює {0} з точністю {1}"],
  ["the forces have a potential, or give no power (gyroscopic, dissipative; examined at random states nearby)", "силы потенциальны или не дают мощности (гироскопические, диссипативные; проверено в случайных состояниях рядом)", "сили потенціальні або не дають потужності (гіроскопічні, дисипативні; перевірено у випадкових станах поруч)"],
  ["no further states take part", "прочие состояния не участвуют", "інші стани не беруть участі"],
  ["the potential energy on the constraints has a strict minimum: its second differential is positive", "потенциальная энергия на связях имеет строгий минимум: второй дифференциал положителен", "потенціальна енергія на в’язях має строгий мінімум: другий диференціал додатний"],
  ["the reduced (amended) potential energy on the constraints has a strict minimum: its second differential is positive", "приведённая (изменённая) потенциальная энергия на связях имеет строгий минимум: второй дифференциал положителен", "зведена (змінена) потенціальна енергія на в’язях має строгий мінімум: другий диференціал додатний"],
  ["the potential energy on the constraints has a strict minimum: its second differential takes negative values", "потенциальная энергия на связях имеет строгий минимум: второй дифференциал принимает отрицательные значения", "потенціальна енергія на в’язях має строгий мінімум: другий диференціал набуває від’ємних значень"],
  ["the reduced (amended) potential energy on the constraints has a strict minimum: its second differential takes negative values", "приведённая (изменённая) потенциальная энергия на связях имеет строгий минимум: второй дифференциал принимает отрицательные значения", "зведена (змінена) потенціальна енергія на в’язях має строгий мінімум: другий диференціал набуває від’ємних значень"],
  ["the potential energy on the constraints has a strict minimum: its second differential does not decide", "потенциальная энергия на связях имеет строгий минимум: второй дифференциал не решает", "потенціальна енергія на в’язях має строгий мінімум: другий диференціал не вирішує"],
  ["the reduced (amended) potential energy on the constraints has a strict minimum: its second differential does not decide", "приведённая (изменённая) потенциальная энергия на связях имеет строгий минимум: второй дифференциал не решает", "зведена (змінена) потенціальна енергія на в’язях має строгий мінімум: другий диференціал не вирішує"],
  ["power is taken from every motion: the matrix of damping is positive", "мощность отнимается у каждого движения: матрица диссипации положительна", "потужність відбирається в кожного руху: матриця дисипації додатна"],
  ["there is one degree of freedom: a motion from rest at a lower energy cannot stay nearby", "одна степень свободы: движение из покоя с меньшей энергией не остаётся вблизи", "один ступінь вільності: рух зі спокою з меншою енергією не лишається поблизу"],
  ["no forces depend on velocities, and the kinetic energy is quadratic in them", "силы не зависят от скоростей, и кинетическая энергия по ним квадратична", "сили не залежать від швидкостей, і кінетична енергія за ними квадратична"],
  ["the other roots are one imaginary pair", "остальные корни — одна мнимая пара", "решта коренів — одна уявна пара"],
  // what became of runs
  ["returned, beyond the limits of {0}", "вернулось, выйдя за ограничения: {0}", "повернулося, вийшовши за обмеження: {0}"],
  ["returned", "вернулось", "повернулося"],
  ["leaves its limits: {0} rises above its limit {1} at t = {2}", "выходит за ограничения: {0} превышает предел {1} при t = {2}", "виходить за обмеження: {0} перевищує межу {1} при t = {2}"],
  ["leaves its limits: {0} falls below its limit {1} at t = {2}", "выходит за ограничения: {0} становится ниже предела {1} при t = {2}", "виходить за обмеження: {0} стає нижчим за межу {1} при t = {2}"],
  ["{0} rises above its limit {1} at t = {2}", "{0} превышает предел {1} при t = {2}", "{0} перевищує межу {1} при t = {2}"],
  ["{0} falls below its limit {1} at t = {2}", "{0} становится ниже предела {1} при t = {2}", "{0} стає нижчим за межу {1} при t = {2}"],
  ["is still returning", "ещё возвращается", "ще повертається"],
  ["has not returned", "не вернулось", "не повернулося"],
  ["tends elsewhere", "стремится в другое место", "прямує в інше місце"],
  ["tends elsewhere, {0} from the limit that was foretold", "стремится в другое место, {0} от предсказанного предела", "прямує в інше місце, {0} від передбаченої границі"],
  ["there is no equilibrium in the box", "в области поиска нет положений равновесия", "в області пошуку немає положень рівноваги"],
  ["{0} drifts when its momentum is perturbed: the verdict speaks of the other coordinates, at fixed momenta", "{0} уходит, если возмущён импульс: вывод относится к остальным координатам при фиксированных импульсах", "{0} відходить, якщо збурено імпульс: висновок стосується інших координат при фіксованих імпульсах"],
  ["{0} drift when their momenta are perturbed: the verdict speaks of the other coordinates, at fixed momenta", "{0} уходят, если возмущены импульсы: вывод относится к остальным координатам при фиксированных импульсах", "{0} відходять, якщо збурено імпульси: висновок стосується інших координат при фіксованих імпульсах"],
  ["at perturbed momenta: {0}", "при возмущённых импульсах: {0}", "при збурених імпульсах: {0}"],
];

const pattern = (template) => new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\d\}/g, "(.+?)")}$`);
const PATTERNS = SENTENCES.map(([english, ...others]) => [pattern(english), others]);

export function told(text) {
  const place = { ru: 0, uk: 1 }[language()];
  if (place === undefined || !text) return text;
  for (const [known, others] of PATTERNS) {
    const found = known.exec(text);
    if (found) return others[place].replace(/\{(\d)\}/g, (_, k) => found[Number(k) + 1]);
  }
  return text;
}

export const sentences = () => SENTENCES;
