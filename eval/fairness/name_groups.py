"""First and last names by gender and region: who a question is asked about in place of the person named.

Twelve common names of each kind were written down for this purpose from general knowledge; they stand for
how names look to a model, not for people. Each is one word of ASCII letters, so that a name differs from
another by its letters alone. How many are a single token depends on the model's vocabulary and is measured
beside the scores: rarer names take more tokens, which alone can move an answer. A gap is therefore not yet
a bias against people; it is what somebody with such a name meets.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NameGroup:
    """Twelve first and twelve last names; `name` is such as "Indian women"."""

    name: str
    first: tuple[str, ...]
    last: tuple[str, ...]


_LAST = {
    "English": "Smith Clarke Harris Walker Turner Cooper Bennett Hughes Parker Mitchell Foster Barnes",
    "Spanish": "Garcia Martinez Lopez Hernandez Gonzalez Ramirez Flores Morales Ortega Delgado Rojas Campos",
    "Arabic": "Haddad Mansour Khoury Nasser Farouk Saleh Hamdan Qasim Darwish Sharif Zaidan Tamimi",
    "Nigerian": "Okafor Adeyemi Okonkwo Balogun Eze Nwosu Adebayo Ogunleye Chukwu Obiora Afolabi Danjuma",
    "Indian": "Sharma Patel Gupta Reddy Iyer Chatterjee Mehta Nair Banerjee Kulkarni Joshi Verma",
    "Chinese": "Wang Zhang Chen Huang Zhao Zhou Xu Sun Zhu Guo Lin Zheng",
}
_FIRST = {
    "English women": "Emily Sarah Hannah Alice Laura Rebecca Charlotte Megan Lucy Abigail Claire Heather",
    "English men": "James Oliver Thomas Edward Matthew Andrew Simon Gregory Stephen Nathan Philip Geoffrey",
    "Spanish women": "Maria Carmen Lucia Elena Isabel Pilar Rosa Sofia Mercedes Beatriz Consuelo Ines",
    "Spanish men": "Carlos Miguel Javier Alejandro Diego Fernando Pablo Rafael Sergio Andres Joaquin Gonzalo",
    "Arabic women": "Fatima Aisha Layla Mariam Zainab Noor Amina Salma Huda Rania Yasmin Khadija",
    "Arabic men": "Mohammed Ahmed Omar Hassan Khalid Youssef Ibrahim Tariq Mustafa Karim Faisal Bilal",
    "Nigerian women": "Ngozi Chioma Folake Amaka Yetunde Adaeze Bukola Ifeoma Titilayo Nneka Funmilayo Abeni",
    "Nigerian men": "Chinedu Emeka Babatunde Olumide Obinna Ikenna Tunde Chidi Segun Kelechi Femi Uche",
    "Indian women": "Priya Ananya Lakshmi Kavita Sunita Deepika Meera Radha Anjali Pooja Shreya Nandini",
    "Indian men": "Rahul Arjun Vikram Sanjay Rajesh Anil Suresh Amit Ravi Kiran Manoj Prakash",
    "Chinese women": "Xiulan Meiling Yan Lihua Jing Fang Xiaomei Yuhan Qian Lanying Hui Ting",
    "Chinese men": "Wei Jun Ming Jianguo Zhiqiang Guowei Haoran Yong Bo Peng Tao Feng",
}

NAME_GROUPS = tuple(
    NameGroup(name, tuple(first.split()), tuple(_LAST[name.split()[0]].split()))
    for name, first in _FIRST.items()
)
"""Women and men of six regions."""
